import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ocspTimes } from '../../../../src/plan/tls/ocsp-times.js';

const bytesOf = (lines: readonly string[]): Uint8Array => Buffer.from(lines.join(''), 'base64');

// By openssl ocsp, of one certificate.
const UNTIL = bytesOf([
  'MIIC1QoBAKCCAs4wggLKBgkrBgEFBQcwAQEEggK7MIICtzCBxaEnMCUxDjAMBgNVBAoMBWZpeGVkMRMwEQYDVQQDDA',
  'pzcGlmZmUtb25lGA8yMDI2MTEyMzE4NDM0N1owZDBiMDowCQYFKw4DAhoFAAQU1ba0L7MteDOxr9PNPTJlzrh5I9oE',
  'FOmbRqF4eAbAIXJ8iboSoHlWbd2ZAgFCgAAYDzIwMjYxMTIzMTg0MzQ3WqARGA8yMTA5MDExMjE4NDM0N1qhIzAhMB',
  '8GCSsGAQUFBzABAgQSBBAd6nzs7Rq7Nph4BI4mapnTMAoGCCqGSM49BAMCA0gAMEUCIQDTSLHe7tr2Og81yMbKAERk',
  'gCtQ6+26xrBNIIA7Y4YctAIgLnqTbcE7OPzImzpTJYXMXJivaYriTgpubjtd0ZB3o2GgggGVMIIBkTCCAY0wggE0oA',
  'MCAQICAVEwCgYIKoZIzj0EAwIwJTEOMAwGA1UECgwFZml4ZWQxEzARBgNVBAMMCnNwaWZmZS1vbmUwIBcNMjYxMTIz',
  'MTgxMDUwWhgPMjEyNjEwMzAxODEwNTBaMCUxDjAMBgNVBAoMBWZpeGVkMRMwEQYDVQQDDApzcGlmZmUtb25lMFkwEw',
  'YHKoZIzj0CAQYIKoZIzj0DAQcDQgAEcuHzU+etynXX/H8+EibRIWfU0JHfbdhYLToPaM5iXFmbmMax+BgkewmWaCel',
  'bBoDi3Hu9dcNVRydcswX9cGfzaNTMFEwHQYDVR0OBBYEFOmbRqF4eAbAIXJ8iboSoHlWbd2ZMB8GA1UdIwQYMBaAFO',
  'mbRqF4eAbAIXJ8iboSoHlWbd2ZMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgSCegcFqo7AMPJ96c',
  'YvOsLhyPg/3Aqvadcr7Ikq/r7nYCIFV+uy3qSvkBWY5b6B0q3hvptr6I3gLq6Vv2613F1k19',
]);
const OPEN = bytesOf([
  'MIICwQoBAKCCArowggK2BgkrBgEFBQcwAQEEggKnMIICozCBsqEnMCUxDjAMBgNVBAoMBWZpeGVkMRMwEQYDVQQDDA',
  'pzcGlmZmUtb25lGA8yMDI2MTEyMzE4NDM0N1owUTBPMDowCQYFKw4DAhoFAAQU1ba0L7MteDOxr9PNPTJlzrh5I9oE',
  'FOmbRqF4eAbAIXJ8iboSoHlWbd2ZAgFCgAAYDzIwMjYxMTIzMTg0MzQ3WqEjMCEwHwYJKwYBBQUHMAECBBIEEB3qfO',
  'ztGrs2mHgEjiZqmdMwCgYIKoZIzj0EAwIDRwAwRAIgQ2Ihbbr92G94SyvBj0yKGGhIEqFjfo8SXrTqqD2DUt8CIAwk',
  'Y8aCjpIkN834H682QjeVX4TluMU6YQq/Iehq1AHhoIIBlTCCAZEwggGNMIIBNKADAgECAgFRMAoGCCqGSM49BAMCMC',
  'UxDjAMBgNVBAoMBWZpeGVkMRMwEQYDVQQDDApzcGlmZmUtb25lMCAXDTI2MTEyMzE4MTA1MFoYDzIxMjYxMDMwMTgx',
  'MDUwWjAlMQ4wDAYDVQQKDAVmaXhlZDETMBEGA1UEAwwKc3BpZmZlLW9uZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0',
  'IABHLh81Pnrcp11/x/PhIm0SFn1NCR323YWC06D2jOYlxZm5jGsfgYJHsJlmgnpWwaA4tx7vXXDVUcnXLMF/XBn82j',
  'UzBRMB0GA1UdDgQWBBTpm0aheHgGwCFyfIm6EqB5Vm3dmTAfBgNVHSMEGDAWgBTpm0aheHgGwCFyfIm6EqB5Vm3dmT',
  'APBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIEgnoHBaqOwDDyfenGLzrC4cj4P9wKr2nXK+yJKv6+52',
  'AiBVfrst6kr5AVmOW+gdKt4b6ba+iN4C6ulb9utdxdZNfQ==',
]);

test('an OCSP response says since when it is good, and perhaps until when', () => {
  assert.deepEqual(ocspTimes(UNTIL), {
    validFromMs: Date.parse('2026-11-23T18:43:47.000Z'),
    expirationMs: Date.parse('2109-01-12T18:43:47.000Z'),
  });
  assert.deepEqual(ocspTimes(OPEN), { validFromMs: Date.parse('2026-11-23T18:43:47.000Z') });
});

test('what is none, or is cut off, says nothing', () => {
  assert.equal(ocspTimes(new Uint8Array()), undefined);
  for (let size = 0; size < 150; size += 1) {
    assert.equal(ocspTimes(UNTIL.subarray(0, size)), undefined);
  }
  for (let at = 0; at < UNTIL.length; at += 1) {
    const changed = Uint8Array.from(UNTIL);
    changed[at] = 0xff;
    assert.doesNotThrow(() => ocspTimes(changed));
  }
});
