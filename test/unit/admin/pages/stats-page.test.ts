import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageOf } from '../../support/fake-native.js';
import { AskedServer } from '../fake-host.js';

test('format=html is the text in a page, with a form that keeps what was asked', () => {
  const asked = new AskedServer();
  asked.host.native.openStats = () => pageOf('cluster.<b>.x: 1\n', 'server.live: 1\n');
  const { text, type } = asked.get('/stats?format=html&filter=%22%3E&usedonly');
  assert.equal(type, 'html');
  assert.match(text, /<pre>\ncluster\.&lt;b&gt;\.x: 1\nserver\.live: 1\n<\/pre>/);
  assert.match(text, /name=filter value="&quot;&gt;"/);
  assert.match(text, /name=usedonly value="" checked/);
  assert.match(text, /<option selected>html</);
});

test('format=active-html is a page that needs nothing from elsewhere', () => {
  const asked = new AskedServer();
  const { text } = asked.get('/stats?format=active-html');
  assert.match(text, /<tbody id="changing">/);
  assert.doesNotMatch(text, /https?:\/\//);
});

test('a page refuses what the text refuses', () => {
  const { status, text } = new AskedServer().get('/stats?format=html&filter=[');
  assert.equal(status, 400);
  assert.equal(text, 'Invalid re2 regex: missing ]: [');
});
