import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { PGlite } from "@electric-sql/pglite"
import { PGLiteSocketServer } from "@electric-sql/pglite-socket"
import { Caravan, Journal } from "caravan-client"
import { applyAll, foldUpdates } from "caravan-client/yjs"
import sqlite from "node-sqlite3-wasm"
import { LeveldbPersistence } from "y-leveldb"
import * as Y from "yjs"
import { killAndRestart, startCaravan } from "../testing/caravan.mjs"

const COMMAND = fileURLToPath(new URL("index.mjs", import.meta.url))
// The schema of the SQLite extension.
const SCHEMA = 'CREATE TABLE "documents" ("name" varchar(255) NOT NULL, "data" blob NOT NULL, UNIQUE(name))'

test("imports", async (t) => {
  const server = await startCaravan(t)
  const folder = await mkdtemp(join(tmpdir(), "caravan-import-"))
  t.after(() => rm(folder, { recursive: true }))

  /** Runs the command and waits for its end. `onStart` may kill it. */
  const run = (args, onStart = () => {}) => new Promise((resolve) => {
    const child = spawn(process.execPath, [COMMAND, ...args, "--url", server.url], { stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    child.stdout.on("data", (data) => (output += data))
    child.stderr.on("data", (data) => (output += data))
    // A long import prints its progress. The last line is the result.
    child.on("close", (status) => resolve({ status, output, end: output.trimEnd().split("\n").at(-1) }))
    onStart(child)
  })
  const stored = async (name) => {
    const doc = new Y.Doc()
    applyAll(Y, doc, await new Journal(new Caravan({ url: server.url }), name, foldUpdates(Y)).read(), null, assert.ifError)
    return doc.getText("text").toString()
  }
  const written = (text) => {
    const doc = new Y.Doc()
    doc.getText("text").insert(0, `${text}?`)
    doc.getText("text").delete(text.length, 1)
    return Y.encodeStateAsUpdate(doc)
  }

  await t.test("y-leveldb, over a killed Caravan, and once more", async () => {
    const from = join(folder, "leveldb")
    const leveldb = new LeveldbPersistence(from)
    for (let i = 0; i < 80; i++) {
      await leveldb.storeUpdate(`letter ${i}`, written(`Dear ${i}`))
    }
    await leveldb.storeUpdate("letter 7", written("and more "))
    await leveldb.destroy()

    const first = run([from, "--prefix", "y/"])
    await killAndRestart(server)
    assert.equal((await first).end, "80 documents brought, 0 were there already, 0 failed")
    assert.equal(await stored("y/letter 9"), "Dear 9")
    assert.match(await stored("y/letter 7"), /^(Dear 7and more |and more Dear 7)$/)
    const again = await run([from, "--prefix", "y/"])
    assert.equal(again.end, "0 documents brought, 80 were there already, 0 failed")
    assert.equal(again.status, 0)
  })

  await t.test("an import that is killed goes on", async () => {
    const from = join(folder, "leveldb")
    const killed = await run([from, "--prefix", "again/"], (child) => {
      const look = setInterval(async () => {
        if ((await stored("again/letter 0")) !== "") {
          clearInterval(look)
          child.kill("SIGKILL")
        }
      }, 5)
      child.on("close", () => clearInterval(look))
    })
    const { status, end } = await run([from, "--prefix", "again/"])
    assert.equal(status, 0, killed.output)
    const [, brought, already] = /^(\d+) documents brought, (\d+) were there/.exec(end)
    assert.equal(Number(brought) + Number(already), 80)
    assert.notEqual(Number(already), 0)
    assert.equal(await stored("again/letter 79"), "Dear 79")
  })

  await t.test("Hocuspocus's SQLite: what is there gets what it lacks", async () => {
    const from = join(folder, "db.sqlite")
    const database = new sqlite.Database(from)
    database.run(SCHEMA)
    for (const name of ["essay", "poem"]) {
      database.run("INSERT INTO documents (name, data) VALUES (?, ?)", [name, written(`my ${name}`)])
    }
    database.run("INSERT INTO documents (name, data) VALUES (?, ?)", ["broken", new Uint8Array([1, 2, 3])])
    database.close()
    await new Journal(new Caravan({ url: server.url }), "poem", foldUpdates(Y)).append(written("old "))
    const { status, output, end } = await run([`sqlite:${from}`])
    assert.equal(status, 3)
    assert.match(output, /document 'broken': /)
    assert.equal(end, "2 documents brought, 0 were there already, 1 failed")
    assert.equal(await stored("essay"), "my essay")
    assert.match(await stored("poem"), /^(old my poem|my poemold )$/)
    assert.equal(await stored("broken"), "")
  })

  await t.test("a SQLite database in WAL mode is told what to do about", async () => {
    const bytes = await readFile(join(folder, "db.sqlite"))
    // The versions of the file format for writing and reading.
    bytes.fill(2, 18, 20)
    await writeFile(join(folder, "wal.sqlite"), bytes)
    const { status, output } = await run([`sqlite:${join(folder, "wal.sqlite")}`])
    assert.equal(status, 1)
    assert.match(output, /wal\.sqlite cannot be read: .*PRAGMA journal_mode = DELETE/)
  })

  await t.test("Hocuspocus's PostgreSQL", async (t) => {
    const database = await PGlite.create()
    await database.exec('CREATE SCHEMA "my app"; CREATE TABLE "my app".docs (name text PRIMARY KEY, data bytea)')
    for (let i = 0; i < 50; i++) {
      await database.query('INSERT INTO "my app".docs VALUES ($1, $2)', [`doc ${i}`, written(`text ${i}`)])
    }
    const socket = new PGLiteSocketServer({ db: database, port: 0, host: "127.0.0.1" })
    await socket.start()
    t.after(async () => {
      await socket.stop()
      await database.close()
    })
    const port = socket.getServerConn().split(":").at(-1)
    const from = `postgres://postgres@127.0.0.1:${port}/postgres?sslmode=disable`
    const { status, output, end } = await run([from, "--prefix", "pg/", "--table", "my app.docs"])
    assert.equal(status, 0, output)
    assert.equal(end, "50 documents brought, 0 were there already, 0 failed")
    assert.equal(await stored("pg/doc 49"), "text 49")
  })

  await t.test("what cannot be read is told, and nothing is made", async () => {
    for (const from of [join(folder, "none"), `sqlite:${join(folder, "none.sqlite")}`, "postgres://127.0.0.1:1/x"]) {
      const { status, output } = await run([from])
      assert.equal(status, 1, output)
      assert.match(output, /^caravan-import: /)
    }
    assert.equal((await run([])).status, 2)
    assert.equal((await run(["x", "--tabel", "y"])).status, 2)
    assert.match((await run(["--help"])).output, /^Usage: caravan-import FROM/)
  })
})
