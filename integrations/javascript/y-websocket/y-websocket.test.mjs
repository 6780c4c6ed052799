import { docs, setPersistence, setupWSConnection } from "@y/websocket-server/utils"
import assert from "node:assert/strict"
import { once } from "node:events"
import { test } from "node:test"
import WebSocket, { WebSocketServer } from "ws"
import { WebsocketProvider } from "y-websocket"
import * as Y from "yjs"
import { killAndRestart, startCaravan, until } from "../testing/caravan.mjs"
import { caravanPersistence } from "./index.mjs"

test("y-websocket", async (t) => {
  const caravan = await startCaravan(t)
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 })
  server.on("connection", setupWSConnection)
  await once(server, "listening")
  t.after(() => server.close())
  const errors = []
  let writing = []
  const persist = (options) => {
    const persistence = caravanPersistence({ url: caravan.url, onError: (error) => errors.push(error), ...options })
    const writeState = (...of) => {
      const written = persistence.writeState(...of)
      writing.push(written)
      return written
    }
    setPersistence({ ...persistence, writeState })
  }

  function edit(name) {
    const doc = new Y.Doc()
    const provider = new WebsocketProvider(`ws://127.0.0.1:${server.address().port}`, name, doc, {
      WebSocketPolyfill: WebSocket, disableBc: true, maxBackoffTime: 200,
    })
    t.after(() => provider.destroy())
    return { doc, provider, text: doc.getText("essay") }
  }

  const typeInto = async ({ text }, word, keys) => {
    for (let key = 0; key < keys; key++) {
      text.insert(text.length, word)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  const count = ({ text }, word) => text.toString().split(word).length - 1
  const closed = async (name, ...editors) => {
    editors.forEach(({ provider }) => provider.destroy())
    await until(() => !docs.has(name), "the server has let the document go")
    await Promise.all(writing)
    writing = []
  }

  await t.test("two editors converge over a killed Caravan, and the document comes back whole", async () => {
    persist()
    const ann = edit("essay")
    const bob = edit("essay")
    const typing = Promise.all([typeInto(ann, "a", 300), typeInto(bob, "b", 300)])
    await until(() => count(ann, "b") > 20 && count(bob, "a") > 20, "both are in their midst")
    await killAndRestart(caravan)
    await typing
    await until(() => count(ann, "b") === 300 && count(bob, "a") === 300, "both have all words")
    assert.equal(ann.text.toString(), bob.text.toString())
    await closed("essay", ann, bob)

    // A server without earlier state.
    persist()
    const fresh = edit("essay")
    await until(() => fresh.text.toString() === ann.text.toString(), "a fresh server has loaded it")
    assert.deepEqual([count(fresh, "a"), count(fresh, "b")], [300, 300])
    await closed("essay", fresh)
    assert.deepEqual(errors, [])
  })

  await t.test("a document whose last two connections end together is stored", async () => {
    const persistence = caravanPersistence({ url: caravan.url, onError: assert.ifError })
    const doc = new Y.Doc()
    doc.conns = new Map()
    await persistence.bindState("together", doc)
    doc.getText("essay").insert(0, "stored")
    const first = persistence.writeState("together", doc)
    await Promise.all([first, persistence.writeState("together", doc), first.then(() => persistence.writeState("together", doc))])
    persist()
    const fresh = edit("together")
    await until(() => fresh.text.toString() === "stored", "a fresh server has loaded it")
    await closed("together", fresh)
  })

  await t.test("editors bring what could not be stored", async () => {
    persist({ patienceMs: 200 })
    const ann = edit("away")
    await until(() => ann.provider.synced, "the editor is synced")
    await caravan.kill("SIGKILL")
    ann.text.insert(0, "written while Caravan was away")
    await until(() => errors.length > 0, "the failure is reported")
    await caravan.start()
    const stored = async () => {
      const found = await fetch(`${caravan.url}/v1/stream/away`)
      return (await found.text()).includes("written while")
    }
    await until(stored, "it is stored")
    await closed("away", ann)

    persist()
    const fresh = edit("away")
    await until(() => fresh.text.toString() === ann.text.toString(), "a fresh server has loaded it")
    await closed("away", fresh)
  })
})
