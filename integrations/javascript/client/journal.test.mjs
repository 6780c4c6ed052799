import assert from "node:assert/strict"
import { createServer, request } from "node:http"
import { test } from "node:test"
import { killAndRestart, startCaravan, until } from "../testing/caravan.mjs"
import { pathOf } from "./caravan.mjs"
import { Caravan, CaravanError, Journal } from "./index.mjs"

const bytes = (text) => new TextEncoder().encode(text)
const texts = (records) => records.map((record) => new TextDecoder().decode(record))
const keepAll = (records) => [...records]
const fail = (error) => {
  throw error
}

test("journals", async (t) => {
  const server = await startCaravan(t)
  const open = (name, { fold = keepAll, ...options } = {}) =>
    new Journal(new Caravan({ url: server.url, ...options }), name, fold, fail)

  await t.test("a document that is not there has no records", async () => {
    assert.deepEqual(await open("none").read(), [])
  })

  await t.test("records come back as they are, in their order", async () => {
    const journal = open("a name/with ünusual % signs?")
    await Promise.all(["one", "", "three"].map((text) => journal.append(bytes(text))))
    assert.deepEqual(texts(await open("a name/with ünusual % signs?").read()), ["one", "", "three"])
    await journal.delete()
    assert.deepEqual(await journal.read(), [])
    await journal.append(bytes("again"))
    assert.deepEqual(texts(await journal.read()), ["again"])
  })

  await t.test("names that fetch or a proxy would rewrite are names", async () => {
    const names = ["rooms/../payroll", "payroll", ".", "..", "a/./b", "a//b", "a/b", "/a", "a/..", "..a", "__name/a", "__ds/a", "it's (a) ~!*"]
    for (const name of names) {
      await open(name).append(bytes(`in ${name}`))
    }
    for (const name of names) {
      assert.deepEqual(texts(await open(name).read()), [`in ${name}`])
    }
    const { documents } = await (await fetch(`${server.url}/v1/documents`)).json()
    const listed = documents.filter((each) => names.includes(each.name))
    assert.deepEqual(listed.map((each) => each.path).sort(), names.map((name) => `/v1/stream/${pathOf(name)}`).sort())
    await open("rooms/../payroll").delete()
    assert.deepEqual(texts(await open("payroll").read()), ["in payroll"])
  })

  await t.test("a record that is longer than a value is stored in parts", async () => {
    const long = new Uint8Array(3_000_000).map((_, at) => at % 251)
    const journal = open("long")
    await Promise.all([journal.append(bytes("before")), journal.append(long), journal.append(bytes("after"))])
    const found = await open("long").read()
    assert.deepEqual([found.length, texts([found[0], found[2]])], [3, ["before", "after"]])
    assert.ok(Buffer.from(long).equals(found[1]))
  })

  await t.test("parts that another writer came between count for nothing", async () => {
    const one = open("parts", { maxValueBytes: 100 })
    const other = open("parts", { maxValueBytes: 100 })
    const long = (letter) => letter.repeat(1000)
    await Promise.all([
      ...["a", "b", "c"].map((letter) => one.append(bytes(long(letter)))),
      ...["d", "e", "f"].map((letter) => other.append(bytes(long(letter)))),
    ])
    assert.deepEqual(texts(await one.read()).sort(), ["a", "b", "c", "d", "e", "f"].map(long))
  })

  await t.test("an append whose answer is lost is made once", async (t) => {
    const proxy = await losingAnswers(server, t)
    const journal = open("lost", { url: proxy.url })
    const other = open("lost")
    for (let n = 0; n < 20; n++) {
      await Promise.all([journal.append(bytes(`mine ${n}`)), other.append(bytes(`other ${n}`))])
    }
    assert.ok(proxy.lost() >= 20, "answers were lost")
    const found = texts(await other.read())
    assert.deepEqual(found.filter((text) => text.startsWith("mine")), Array.from({ length: 20 }, (_, n) => `mine ${n}`))
    assert.equal(found.length, 40)
  })

  await t.test("compacting loses nothing of another writer", async () => {
    // Folds all lines into one record. The padding makes this worthwhile.
    const fold = (records) => [bytes([...new Set(texts(records).flatMap((text) => text.trim().split(/\s+/)))].join(" "))]
    const writers = ["a", "b"].map((by) => ({ by, journal: open("compacted", { fold }) }))
    await Promise.all(writers.map(async ({ by, journal }) => {
      for (let n = 0; n < 400; n++) {
        await journal.append(bytes(`${by}${n} `.padEnd(1000)))
      }
    }))
    const records = await open("compacted").read()
    assert.ok(records.length < 400, `${records.length} records are left of 800`)
    assert.equal(fold(records).join().length, fold(records)[0].toString().length)
    assert.equal(texts(fold(records))[0].split(" ").length, 800)
  })

  await t.test("a snapshot that somebody was faster than is not written", async () => {
    const other = open("faster")
    let interruptions = 0
    class Interrupted extends Caravan {
      async request(method, ...rest) {
        const answer = await super.request(method, ...rest)
        if (method === "GET" && interruptions++ === 0) {
          await other.append(bytes("came between"))
        }
        return answer
      }
    }
    const fold = (records) => [bytes(`${records.length} records`)]
    const journal = new Journal(new Interrupted({ url: server.url }), "faster", fold, fail)
    const long = "x".repeat(70_000)
    await journal.append(bytes(long))
    // The read runs after the compaction.
    assert.deepEqual(texts(await journal.read()), [long, "came between"])
    await journal.append(bytes("last"))
    assert.deepEqual(texts(await journal.read()), ["3 records"])
  })

  await t.test("a compaction that the server rejects is tried again when the document has doubled", async () => {
    class Untrimmable extends Caravan {
      request(method, path, ...rest) {
        return path.includes("?trim=") ? Promise.reject(new CaravanError("has forks")) : super.request(method, path, ...rest)
      }
    }
    const errors = []
    const fold = (records) => [bytes(`${records.length} records`)]
    const journal = new Journal(new Untrimmable({ url: server.url }), "forked", fold, (error) => errors.push(error))
    await journal.append(bytes("x".repeat(70_000)))
    for (let n = 0; n < 20; n++) {
      await journal.append(bytes(`small ${n}`))
    }
    assert.equal((await journal.read()).length, 22)
    assert.equal(errors.length, 1)
    await journal.append(bytes("x".repeat(140_000)))
    await journal.read()
    assert.equal(errors.length, 2)
  })

  await t.test("nothing acknowledged is lost or doubled when the server is killed", async () => {
    const acknowledged = []
    const write = async (by, journal) => {
      for (let n = 0; n < 300; n++) {
        await journal.append(bytes(`${by} ${n}`))
        acknowledged.push(`${by} ${n}`)
      }
    }
    const writing = Promise.all(["a", "b"].map((by) => write(by, open("killed"))))
    await until(() => acknowledged.length >= 50, "the writers are in their midst")
    await killAndRestart(server)
    assert.ok(acknowledged.length < 600, "the server was killed in the midst")
    await writing
    assert.equal(acknowledged.length, 600)
    assert.deepEqual(texts(await open("killed").read()).sort(), acknowledged.sort())
  })

  await t.test("a server that stays away is an error, in time", async () => {
    const journal = open("away", { url: "http://127.0.0.1:1", patienceMs: 300 })
    await assert.rejects(journal.append(bytes("x")), CaravanError)
    await assert.rejects(journal.read(), /127\.0\.0\.1:1.*no answer/)
  })

  await t.test("bytes that others wrote are refused", async () => {
    const url = `${server.url}/v1/stream/foreign`
    const headers = { "Content-Type": "application/octet-stream" }
    await fetch(url, { method: "PUT", headers })
    await fetch(url, { method: "POST", headers, body: "no frame" })
    await assert.rejects(open("foreign").read(), /byte 0 of 8 begins no frame/)
  })
})

test("a server that asks for a token", async (t) => {
  process.env.CARAVAN_PASSWORD = "a-secret-of-this-test"
  t.after(() => delete process.env.CARAVAN_PASSWORD)
  const server = await startCaravan(t)
  const open = (token) => new Journal(new Caravan({ url: server.url, token }), "document", keepAll, fail)
  await open("a-secret-of-this-test").append(bytes("let in"))
  assert.deepEqual(texts(await open("a-secret-of-this-test").read()), ["let in"])
  await assert.rejects(open("another").append(bytes("kept out")), { status: 401, code: "unauthorized" })
})

/** Starts a proxy that forwards every second append and then closes the connection without a response. */
async function losingAnswers(server, t) {
  let appends = 0
  let lost = 0
  const proxy = createServer((from, to) => {
    const lose = from.method === "POST" && appends++ % 2 === 0
    const onward = request(server.url + from.url, { method: from.method, headers: from.headers }, (answer) => {
      if (lose) {
        lost++
        answer.resume().on("end", () => from.socket.destroy())
      } else {
        to.writeHead(answer.statusCode, answer.headers)
        answer.pipe(to)
      }
    })
    from.pipe(onward)
  })
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  t.after(() => proxy.close())
  return { url: `http://127.0.0.1:${proxy.address().port}`, lost: () => lost }
}
