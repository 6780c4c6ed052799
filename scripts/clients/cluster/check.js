// Appends to documents of two Raft groups through the cluster clients of ioredis and node-redis while a leader is
// killed.
// Usage: check.js CLIENT PORT[,PORT...] KILL_FILE
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');

const VALUES = 200;
const ports = process.argv[3].split(',').map(Number);
const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

const clients = {
  async ioredis() {
    const { Cluster } = require('ioredis');
    const cluster = new Cluster(ports.map((port) => ({ host: '127.0.0.1', port })), {
      clusterRetryStrategy: () => 100,
      retryDelayOnClusterDown: 100,
      retryDelayOnFailover: 100,
      maxRedirections: 100,
      redisOptions: { connectTimeout: 1000 },
    });
    cluster.on('error', () => {});
    return {
      push: (key, value) => cluster.rpush(key, value),
      range: (key) => cluster.lrange(key, 0, -1),
      end: () => cluster.disconnect(),
    };
  },
  async 'node-redis'() {
    const { createCluster } = require('redis');
    const cluster = createCluster({
      rootNodes: ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })),
      defaults: { socket: { connectTimeout: 1000, reconnectStrategy: () => 100 } },
      maxCommandRedirections: 100,
    });
    cluster.on('error', () => {});
    await cluster.connect();
    return {
      push: (key, value) => cluster.rPush(key, value),
      range: (key) => cluster.lRange(key, 0, -1),
      end: () => cluster.destroy(),
    };
  },
};

// Retries as an application does that accepts duplicates when an append with an error may have succeeded.
async function pushUntilAnswered(client, key, value) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await client.push(key, value);
    } catch (error) {
      if (attempt === 300) throw error;
      await pause(100);
    }
  }
}

async function main() {
  const name = process.argv[2];
  const client = await clients[name]();
  // One document for each of the two groups.
  const keys = [`{north}:${name}`, `{cluster}:${name}`];
  for (let n = 0; n < VALUES; n++) {
    // The script that waits for this file kills a leader.
    if (n === VALUES / 2) fs.writeFileSync(process.argv[4], '');
    for (const key of keys) await pushUntilAnswered(client, key, String(n));
  }
  let again = 0;
  for (const key of keys) {
    const found = (await client.range(key)).map(Number);
    assert.deepStrictEqual([...new Set(found)].sort((a, b) => a - b), [...Array(VALUES).keys()]);
    again += found.length - VALUES;
  }
  client.end();
  console.log(`${name}: ${VALUES} values twice over a killed leader, ${again} sent again`);
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
