import { Repo } from "@automerge/automerge-repo"
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { test } from "node:test"
import { killAndRestart, startCaravan, until } from "../testing/caravan.mjs"
import { CaravanStorageAdapter } from "./index.mjs"

test("automerge-repo", async (t) => {
  const caravan = await startCaravan(t)
  const open = (prefix) => new CaravanStorageAdapter({ url: caravan.url, prefix })

  await t.test("its own suite passes", async () => {
    const suite = spawn("npx", ["--no-install", "vitest", "run"], {
      cwd: new URL("..", import.meta.url),
      env: { ...process.env, CARAVAN_URL: caravan.url, NODE_TEST_CONTEXT: undefined },
      stdio: ["ignore", "pipe", "inherit"],
    })
    const output = suite.stdout.setEncoding("utf8").toArray()
    const [code] = await once(suite, "close")
    assert.equal(code, 0, (await output).join(""))
    assert.match((await output).join(""), /Tests\s+.*1[0-9] passed/)
  })

  await t.test("what flush has acknowledged survives a killed Caravan", async () => {
    const repo = new Repo({ storage: open("repo/") })
    const handle = repo.create({ words: [] })
    let flushed = 0
    const writing = (async () => {
      for (let n = 0; n < 200; n++) {
        handle.change((doc) => doc.words.push(`word ${n}`))
        await repo.flush([handle.documentId])
        flushed = n + 1
      }
    })()
    await until(() => flushed > 20, "the writer is in its midst")
    await caravan.kill("SIGKILL")
    const acknowledged = flushed
    await caravan.start()
    const words = async () => (await new Repo({ storage: open("repo/") }).find(handle.url)).doc().words
    assert.ok((await words()).length >= acknowledged, "everything acknowledged is there after the kill")
    await writing
    assert.deepEqual(await words(), Array.from({ length: 200 }, (_, n) => `word ${n}`))
    await repo.shutdown()
  })

  await t.test("what was removed goes when the document is compacted", async () => {
    const adapter = open("compacted/")
    const chunk = new Uint8Array(10_000).fill(7)
    await adapter.save(["doc", "snapshot", "kept"], chunk)
    for (let n = 0; n < 40; n++) {
      await adapter.save(["doc", "incremental", String(n)], chunk)
      await adapter.remove(["doc", "incremental", String(n)])
    }
    const stored = await fetch(`${caravan.url}/v1/stream/compacted%2Fdoc`)
    assert.ok((await stored.arrayBuffer()).byteLength < 20 * 10_000)
    await killAndRestart(caravan)
    assert.deepEqual(await open("compacted/").loadRange(["doc"]), [{ key: ["doc", "snapshot", "kept"], data: chunk }])
  })

  await t.test("an empty key is refused", async () => {
    await assert.rejects(open("").loadRange([]), /name one/)
  })
})
