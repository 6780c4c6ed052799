// Runs commands.txt and some methods of ioredis against a server. Usage: check.js HOST PORT COMMANDS
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const Redis = require('ioredis');
const { version } = require('ioredis/package.json');

// Converts a reply to plain JSON values, with 1 and 0 for Booleans.
function plain(reply) {
  if (typeof reply === 'boolean') return Number(reply);
  if (Buffer.isBuffer(reply)) return reply.toString();
  if (reply instanceof Set || Array.isArray(reply)) return [...reply].map(plain);
  if (reply instanceof Map) return plain(Object.fromEntries(reply));
  if (reply !== null && typeof reply === 'object') {
    return Object.fromEntries(Object.entries(reply).map(([name, value]) => [name, plain(value)]));
  }
  return reply;
}

function steps(path) {
  return fs.readFileSync(path, 'utf8').split('\n')
    .filter((line) => line.trim() && !line.startsWith('#'))
    .map((line) => {
      const at = line.indexOf(' => ');
      const words = line.slice(0, at).match(/"[^"]*"|\S+/g).map((word) => word.replace(/"/g, ''));
      return { words, expected: line.slice(at + 4) };
    });
}

async function call(client, words) {
  try {
    return { reply: plain(await client.call(...words)) };
  } catch (error) {
    return { error: error.message };
  }
}

function agrees(expected, { error, reply }) {
  if (expected.startsWith('!')) return error !== undefined && error.startsWith(expected.slice(1));
  if (error !== undefined) return false;
  if (expected.startsWith('/')) return new RegExp(expected.slice(1, -1)).test(JSON.stringify(reply));
  return JSON.stringify(reply) === expected;
}

async function runSteps(client, path) {
  const listed = (await client.call('COMMAND', 'LIST')).map((name) => name.toUpperCase());
  // Messages need a separate connection, see runMethods.
  const used = new Set(['SUBSCRIBE', 'UNSUBSCRIBE', 'PSUBSCRIBE', 'PUNSUBSCRIBE']);
  for (const { words, expected } of steps(path)) {
    // ioredis cannot switch protocol versions on an open connection.
    if (words[0] === 'HELLO' && words[1] !== '4') {
      used.add('HELLO');
      continue;
    }
    const result = await call(client, words);
    used.add(words[0].toUpperCase());
    assert(agrees(expected, result), `${words}: expected ${expected}, was ${JSON.stringify(result)}`);
  }
  const missing = listed.filter((name) => !used.has(name));
  assert.deepStrictEqual(missing, [], `commands without a line in ${path}`);
  return used.size;
}

// Calls methods that applications use.
async function runMethods(client, other) {
  await client.del('io:list', 'io:tail');
  assert.strictEqual(await client.rpush('io:list', 'a', 'b', 'c'), 3);
  assert.deepStrictEqual(await client.lrange('io:list', 0, -1), ['a', 'b', 'c']);
  assert.deepStrictEqual(await client.lpop('io:list', 2), ['a', 'b']);
  assert.deepStrictEqual(await client.multi().rpush('io:list', 'd').expire('io:list', 100).exec(), [[null, 2], [null, 1]]);
  assert.strictEqual(await client.ttl('io:list'), 100);
  const names = [];
  for await (const page of client.scanStream({ match: 'io:*' })) names.push(...page);
  assert.deepStrictEqual(names, ['io:list']);
  const listener = other.duplicate();
  assert.strictEqual(await listener.subscribe('io:a', 'io:b'), 2);
  const message = new Promise((resolve) => listener.once('message', (...heard) => resolve(heard)));
  assert.strictEqual(await client.publish('io:b', 'hello'), 1);
  assert.deepStrictEqual(await message, ['io:b', 'hello']);
  assert.strictEqual(await listener.unsubscribe(), 0);
  assert.strictEqual(await listener.psubscribe('io:*', 'other:*'), 2);
  const matched = new Promise((resolve) => listener.once('pmessage', (...heard) => resolve(heard)));
  assert.strictEqual(await client.publish('io:c', 'hello'), 1);
  assert.deepStrictEqual(await matched, ['io:*', 'io:c', 'hello']);
  assert.strictEqual(await listener.punsubscribe(), 0);
  await listener.quit();
  assert.deepStrictEqual(await client.blpop('io:none', 0.01), null);
  const tail = other.call('CARAVAN.READ', 'io:tail', 'FROM', 0, 'BLOCK', 20000);
  await client.rpush('io:tail', 'value');
  const [next, values, end, id] = plain(await tail);
  assert.deepStrictEqual([next, values, end], [1, [[0, 'value']], 0]);
  assert.ok(id > 0);
  assert.strictEqual(await client.del('io:list', 'io:tail'), 2);
}

async function main() {
  const [host, port, path] = process.argv.slice(2);
  const connect = () => new Redis({ host, port: Number(port), maxRetriesPerRequest: 0, retryStrategy: () => null });
  const client = connect();
  const other = connect();
  await runMethods(client, other);
  const used = await runSteps(client, path);
  client.disconnect();
  other.disconnect();
  console.log(`ioredis ${version}: ${used} commands answered as expected`);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
