// Runs the examples of the pages unchanged, except for the address of a server and free ports.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { readFile, rm, writeFile } from "node:fs/promises"
import { test } from "node:test"
import { startCaravan, until } from "./caravan.mjs"

const CASES = [
  { page: "automerge-repo", after: "\nprocess.exit()", prints: "Once upon a time" },
  { page: "hocuspocus", after: '\nconsole.log("runs")\nprocess.exit()', prints: "runs" },
  { page: "y-redis", after: '\nawait persistence.redis.ping()\nconsole.log("runs")\nprocess.exit()', prints: "runs" },
  { page: "y-websocket", after: '\nserver.on("listening", () => console.log("runs") ?? process.exit())', prints: "runs" },
]

test("the pages", async (t) => {
  const caravan = await startCaravan(t)
  for (const { page, after, prints } of CASES) {
    await t.test(page, async () => {
      const text = await readFile(new URL(`../${page}/README.md`, import.meta.url), "utf8")
      const code = /```js\n(.*?)```/s.exec(text)[1]
      const program = new URL(`../${page}/readme-example.mjs`, import.meta.url)
      const here = code.replaceAll("http://127.0.0.1:4437", caravan.url)
        .replace("port: 6380", `port: ${caravan.respPort}`).replace("port: 1234", "port: 0")
      await writeFile(program, here + after)
      try {
        const run = spawn(process.execPath, [program.pathname], { stdio: ["ignore", "pipe", "inherit"] })
        let output = ""
        run.stdout.on("data", (chunk) => {
          output += chunk
        })
        await until(() => run.exitCode !== null, `the example of ${page} ends`)
        assert.equal(run.exitCode, 0)
        assert.match(output, new RegExp(prints))
      } finally {
        await rm(program)
      }
    })
  }
})
