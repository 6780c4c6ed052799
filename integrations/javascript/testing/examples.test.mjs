// Runs the document server of examples/ as its page says, and kills it and Caravan while editors write.
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { killAndRestart, startCaravan, until } from "./caravan.mjs"

const EXAMPLES = new URL("../../../examples/", import.meta.url)

test("the document server", async (t) => {
  const caravan = await startCaravan(t)
  const page = await readFile(new URL("README.md", EXAMPLES), "utf8")
  let server = await startServer(t, caravan)

  await t.test("prints what its page says", async () => {
    assert.ok(page.includes(`\n${server.printed.replace(server.url, "http://127.0.0.1:8080")}\n`), server.printed)
    const session = /```console\n(\$ curl -d.*?)```/s.exec(page)[1]
    const commands = session.split("\n").filter((line) => line.startsWith("$ ")).map((line) => line.slice(2))
    const expected = session.split("\n").filter((line) => !line.startsWith("$ ")).join("\n")
    const script = commands.join("\n").replaceAll("http://127.0.0.1:8080", server.url)
    assert.equal(execFileSync("bash", ["-euc", script.replaceAll("curl", "curl -fsS")], { encoding: "utf8" }), expected)
  })

  await t.test("rejects what is not an edit", async () => {
    const response = await fetch(`${server.url}/letter`, { method: "POST", body: '{"line": -1, "text": "x"}' })
    assert.equal(response.status, 400)
  })

  await t.test("sends each edit to every editor, and loses none when it or Caravan is killed", async () => {
    const watching = await watch(`${server.url}/shared`)
    const write = async (by) => {
      for (let n = 0; n < 50; n++) {
        const body = JSON.stringify({ line: by, text: `${by}: ${n}` })
        const response = await fetch(`${server.url}/shared`, { method: "POST", body })
        assert.equal(response.status, 204, await response.text())
      }
    }
    const writing = Promise.all([0, 1].map(write))
    await until(() => watching.edits.length >= 10, "the editors have written")
    await killAndRestart(caravan)
    await writing
    const lines = ["0: 49", "1: 49"]
    await until(() => lines.every((line) => watching.edits.some(({ text }) => text === line)), "the edits arrive")
    assert.equal(watching.edits.length, 100)
    server.process.kill("SIGKILL")
    await watching.ended
    server = await startServer(t, caravan)
    assert.equal(await (await fetch(`${server.url}/shared`)).text(), "0: 49\n1: 49\n")
  })
})

async function startServer(t, caravan) {
  const program = fileURLToPath(new URL("javascript/document-server.mjs", EXAMPLES))
  const env = { ...process.env, CARAVAN_URL: caravan.url, PORT: "0" }
  const process_ = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "inherit"] })
  t.after(() => process_.kill("SIGKILL"))
  const [printed] = await once(createInterface({ input: process_.stdout }), "line")
  return { process: process_, printed, url: /http:\S+(?=\/NAME)/.exec(printed)[0] }
}

/** Receives the edits of a document until the server closes the connection. */
async function watch(url) {
  const response = await fetch(url, { headers: { Accept: "text/event-stream" } })
  const edits = []
  const receive = async () => {
    let received = ""
    const decoder = new TextDecoder()
    for await (const chunk of response.body) {
      received += decoder.decode(chunk, { stream: true })
      const events = received.split("\n\n")
      received = events.pop()
      edits.push(...events.map((event) => JSON.parse(event.slice("data: ".length))))
    }
  }
  return { edits, ended: receive().catch(() => {}) }
}
