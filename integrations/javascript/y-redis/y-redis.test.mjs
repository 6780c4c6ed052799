import assert from "node:assert/strict"
import { test } from "node:test"
import { RedisPersistence } from "y-redis"
import * as Y from "yjs"
import { killAndRestart, startCaravan, until } from "../testing/caravan.mjs"

test("y-redis, as it is", async (t) => {
  const caravan = await startCaravan(t)

  function connect() {
    const persistence = new RedisPersistence({ redisOpts: { host: "127.0.0.1", port: caravan.respPort } })
    // ioredis reconnects automatically and would print each failed attempt without a listener.
    for (const connection of [persistence.redis, persistence.sub]) {
      connection.on("error", () => {})
      t.after(() => connection.disconnect())
    }
    return persistence
  }

  async function edit(persistence) {
    const doc = new Y.Doc()
    await persistence.bindState("essay", doc).synced
    return doc.getText("essay")
  }

  const type = async (text, word, keys) => {
    for (let key = 0; key < keys; key++) {
      text.insert(text.length, word)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  const count = (text, word) => text.toString().split(word).length - 1

  const ann = await edit(connect())
  const bob = await edit(connect())
  await Promise.all([type(ann, "a", 100), type(bob, "b", 100)])
  await until(() => count(ann, "b") === 100 && count(bob, "a") === 100, "each has heard of all that the other wrote")

  await killAndRestart(caravan)
  // Messages that were published during the restart are lost, as with Redis. After the next message, y-redis fetches
  // the rest.
  await until(async () => {
    await Promise.all([type(ann, "c", 1), type(bob, "d", 1)])
    return count(ann, "d") > 0 && count(bob, "c") > 0
  }, "each hears of the other again")
  await until(() => ann.toString() === bob.toString(), "both have the same")

  const fresh = await edit(connect())
  assert.equal(fresh.toString(), ann.toString())
  assert.deepEqual([count(fresh, "a"), count(fresh, "b")], [100, 100])
})
