// What is read of each header was asked of the real server (release 1.40).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prefersMetricFamilies } from '../../../../src/admin/pages/media-types.js';

const PROTOBUF = 'application/vnd.google.protobuf';
const DELIMITED = `${PROTOBUF}; proto=io.prometheus.client.MetricFamily; encoding=delimited`;

const PREFERS = [
  PROTOBUF,
  DELIMITED,
  DELIMITED.replaceAll(' ', ''),
  `${DELIMITED};q=0`,
  `${PROTOBUF};proto=x;encoding=text`,
  ` \t${PROTOBUF}\t `,
  `,,,${PROTOBUF}`,
  `${PROTOBUF} ,text/plain`,
  `*/*,${PROTOBUF}`,
  `application/openmetrics-text;version=1.0.0,${PROTOBUF}`,
  `text/plain ;q=1,${PROTOBUF}`,
  `Text/Plain,${PROTOBUF}`,
  `foo/bar;x=",${PROTOBUF},"`,
];
const DOES_NOT = [
  '',
  '*/*',
  'application/*',
  'text/plain',
  `text/plain;q=0,${DELIMITED}`,
  `text/plain,${DELIMITED};q=1`,
  `application/openmetrics-text,text/plain,${DELIMITED}`,
  PROTOBUF.toUpperCase(),
  `${PROTOBUF}s`,
  `x${PROTOBUF}`,
  `${PROTOBUF} ;q=1`,
  `\u00a0${PROTOBUF}`,
  `"${DELIMITED}"`,
  `; ${PROTOBUF}`,
];

test('protobuf is preferred where it is named, whatever its weight and parameters, before text', () => {
  for (const accept of PREFERS) assert.equal(prefersMetricFamilies(accept), true, accept);
  for (const accept of DOES_NOT) assert.equal(prefersMetricFamilies(accept), false, accept);
});

test('what comes after either of them changes nothing, nor what is neither', () => {
  const others = ['*/*', 'a/b;q=1', '', ' ', ';', `${PROTOBUF}2`, 'text/plainer', '"', '\t, ,'];
  for (let round = 0; round < 2000; ++round) {
    const pick = (): string => others[Math.floor(Math.random() * others.length)] ?? '';
    const some = (): string[] => Array.from({ length: Math.floor(Math.random() * 5) }, pick);
    const isFirst = round % 2 === 0;
    const deciding = isFirst ? [PROTOBUF, 'text/plain'] : ['text/plain', PROTOBUF];
    const [first = '', second = ''] = deciding;
    const accept = [...some(), ` ${first};q=0.3`, ...some(), second, ...some()].join(',');
    assert.equal(prefersMetricFamilies(accept), isFirst, accept);
  }
});
