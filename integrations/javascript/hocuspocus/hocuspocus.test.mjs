import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider"
import { Server } from "@hocuspocus/server"
import assert from "node:assert/strict"
import { test } from "node:test"
import WebSocket from "ws"
import * as Y from "yjs"
import { Caravan, Journal } from "caravan-client"
import { foldUpdates } from "caravan-client/yjs"
import { killAndRestart, startCaravan, until } from "../testing/caravan.mjs"
import { CaravanExtension } from "./index.mjs"

const NAME = "essay"

test("Hocuspocus", async (t) => {
  const caravan = await startCaravan(t)

  async function startServer({ onError = console.error } = {}, ...extensions) {
    const extension = new CaravanExtension({ url: caravan.url, prefix: "hocuspocus/", onError })
    const server = new Server({
      address: "127.0.0.1", port: 0, quiet: true, stopOnSignals: false, debounce: 10,
      extensions: [extension, ...extensions],
    })
    await server.listen()
    t.after(() => server.destroy())
    return server
  }

  function edit(server, name = NAME) {
    const socket = new HocuspocusProviderWebsocket({
      url: `ws://127.0.0.1:${server.address.port}`, WebSocketPolyfill: WebSocket, delay: 50, minDelay: 50, maxDelay: 200,
    })
    const document = new Y.Doc()
    const provider = new HocuspocusProvider({ name, document, websocketProvider: socket })
    provider.attach()
    const close = () => {
      provider.destroy()
      socket.destroy()
    }
    t.after(close)
    return { provider, document, close, text: document.getText("essay") }
  }

  const typeInto = async ({ text }, word, keys) => {
    for (let key = 0; key < keys; key++) {
      text.insert(text.length, word)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  const isSaved = ({ provider }) => provider.isSynced && !provider.hasUnsyncedChanges
  const count = ({ text }, word) => text.toString().split(word).length - 1

  const server = await startServer()

  await t.test("two editors converge over a killed Caravan, and a fresh server loads the whole", async () => {
    const ann = edit(server)
    const bob = edit(server)
    await until(() => isSaved(ann) && isSaved(bob), "both editors are synced")
    const typing = Promise.all([typeInto(ann, "a", 300), typeInto(bob, "b", 300)])
    await until(() => count(ann, "b") > 20 && count(bob, "a") > 20, "both are in their midst")
    await killAndRestart(caravan)
    await typing
    await until(() => isSaved(ann) && isSaved(bob), "all is saved")
    await until(() => ann.text.toString() === bob.text.toString(), "both have the same text")

    const fresh = edit(await startServer())
    await until(() => isSaved(fresh), "a fresh server has loaded it")
    assert.equal(fresh.text.toString(), ann.text.toString())
    assert.deepEqual([count(fresh, "a"), count(fresh, "b")], [300, 300])
  })

  await t.test("nothing is said to be saved, or shown to others, before Caravan has it", async () => {
    const ann = edit(server, "held")
    const bob = edit(server, "held")
    await until(() => isSaved(ann) && isSaved(bob), "both editors are synced")
    await caravan.kill("SIGKILL")
    ann.text.insert(0, "held")
    await until(() => ann.provider.hasUnsyncedChanges, "the change is on its way")
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.equal(ann.provider.hasUnsyncedChanges, true)
    assert.equal(bob.text.toString(), "")
    await caravan.start()
    await until(() => isSaved(ann) && bob.text.toString() === "held", "it is saved, and shown")
  })

  await t.test("an update that cannot be applied hides nothing else, and is kept", async () => {
    const journal = new Journal(new Caravan({ url: caravan.url }), "hocuspocus/malformed", foldUpdates(Y), assert.ifError)
    const written = new Y.Doc()
    const line = "x".repeat(70_000)
    written.getText("essay").insert(0, line)
    await journal.append(Uint8Array.of(9, 9, 9))
    for (let n = 0; n < 3; n++) {
      await journal.append(Y.encodeStateAsUpdate(written))
    }
    assert.equal((await journal.read()).length, 2)
    const errors = []
    const fresh = edit(await startServer({ onError: (error) => errors.push(error) }), "malformed")
    await until(() => isSaved(fresh), "the editor is synced")
    assert.equal(fresh.text.toString(), line)
    assert.equal(errors.length, 1)
  })

  await t.test("the server's own changes are durable when transact returns", async () => {
    const connection = await server.hocuspocus.openDirectConnection("direct")
    await connection.transact((document) => document.getText("essay").insert(0, "by the server"))
    const fresh = edit(await startServer(), "direct")
    await until(() => isSaved(fresh), "a fresh server has loaded it")
    assert.equal(fresh.text.toString(), "by the server")
    await connection.disconnect()
  })

  await t.test("what another extension loads is stored", async () => {
    const template = { onLoadDocument: async ({ document }) => void document.getText("essay").insert(0, "template") }
    const ann = edit(await startServer({}, template), "template")
    await until(() => isSaved(ann), "the editor is synced")
    const fresh = edit(await startServer(), "template")
    await until(() => isSaved(fresh), "a fresh server has loaded it")
    assert.equal(fresh.text.toString(), "template")
  })

  await t.test("a document is compacted while it is edited, and stays whole", async () => {
    const ann = edit(server, "compacted")
    await until(() => isSaved(ann), "the editor is synced")
    const line = "x".repeat(4000)
    for (let n = 0; n < 60; n++) {
      ann.text.delete(0, ann.text.length)
      ann.text.insert(0, line + n)
      await until(() => isSaved(ann), "it is saved")
    }
    const stored = await fetch(`${caravan.url}/v1/stream/hocuspocus%2Fcompacted`)
    const { byteLength } = await stored.arrayBuffer()
    assert.ok(byteLength < 60 * 4000 / 2, `${byteLength} bytes are left`)
    assert.notEqual(Number.parseInt(stored.headers.get("Stream-First-Offset"), 10), 0)
    const fresh = edit(await startServer(), "compacted")
    await until(() => isSaved(fresh), "a fresh server has loaded it")
    assert.equal(fresh.text.toString(), `${line}59`)
  })
})
