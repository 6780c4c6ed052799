// Two editors type into one Yjs document through the gateway of the protocol, which compacts it repeatedly. The server
// is killed while they type.
import { YjsProvider } from "@durable-streams/y-durable-streams"
import { YjsServer } from "@durable-streams/y-durable-streams/server"
import * as Y from "yjs"
import { check, fromEnvironment, until } from "./server.mjs"

const KEYS = 60
const caravan = await fromEnvironment("yjs").start()
// The threshold is small, so the gateway often replaces the updates with a snapshot and continues after its offset.
const gateway = new YjsServer({ port: 0, host: "127.0.0.1", dsServerUrl: caravan.url, compactionThreshold: 512 })
await gateway.start()
const editors = []

function open() {
  const doc = new Y.Doc()
  const provider = new YjsProvider({ doc, baseUrl: `${gateway.url}/v1/yjs/test`, docId: "essay", connect: false })
  // The provider reports errors while the server is down, which this test expects.
  provider.on("error", () => {})
  const editor = { doc, provider, text: doc.getText("essay") }
  editors.push(editor)
  return editor
}

async function type(editor, word) {
  for (let key = 0; key < KEYS; key++) {
    editor.text.insert(editor.text.length, word)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

// Returns the key of the document's snapshot: the sequence of the first update that it does not contain, or "-1"
// without a snapshot.
async function snapshot() {
  const found = await fetch(`${gateway.url}/v1/yjs/test/docs/essay?offset=snapshot`, { redirect: "manual" })
  return new URL(found.headers.get("location"), gateway.url).searchParams.get("offset")
}

const count = (text, word) => text.toString().split(word).length - 1
const same = (...all) => all.every((editor) => editor.text.toString() === all[0].text.toString())

async function connect(editor) {
  await until(
    async () => {
      if (!editor.provider.connected) {
        await editor.provider.connect().catch(() => {})
      }
      return editor.provider.synced
    },
    "an editor is synced",
    60,
  )
}

// The provider discards text that is typed while it is disconnected. After a reconnect, it restarts its append numbers
// with the same producer name, so the server would treat new appends as duplicates. So an editor returns as a new one
// and sends its entire document.
async function reopen(before) {
  before.provider.destroy()
  const editor = open()
  await connect(editor)
  Y.applyUpdate(editor.doc, Y.encodeStateAsUpdate(before.doc))
  return editor
}

try {
  let ann = open()
  let bob = open()
  await connect(ann)
  await connect(bob)
  await Promise.all([type(ann, "a"), type(bob, "b")])
  await until(() => same(ann, bob) && ann.text.length === 2 * KEYS, "both editors have all words")
  await until(async () => (await snapshot()).endsWith("_snapshot"), "the document is compacted")
  const first = await snapshot()

  const typing = Promise.all([type(ann, "c"), type(bob, "d")])
  await caravan.kill("SIGKILL")
  await typing
  await caravan.start()
  ann = await reopen(ann)
  bob = await reopen(bob)
  await type(ann, "e")
  await until(() => same(ann, bob) && ann.text.length === 5 * KEYS, "both converge after the kill", 60)

  await until(async () => (await snapshot()) > first, "the document is compacted from one snapshot to the next")

  const carol = open()
  await connect(carol)
  await until(() => same(ann, carol), "a late editor sees the same text")
  for (const word of ["a", "b", "c", "d", "e"]) {
    check(count(carol.text, word) === KEYS, `every ${word} arrived exactly once`)
  }
  console.log("yjs: ok")
} finally {
  editors.forEach((editor) => editor.provider.destroy())
  await gateway.stop()
  await caravan.kill("SIGTERM")
}
process.exit(0)
