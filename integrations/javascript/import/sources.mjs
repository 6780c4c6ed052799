// The documents of a store, each as one Yjs update.
import { access } from "node:fs/promises"
import { join } from "node:path"
import sqlite from "node-sqlite3-wasm"
import pg from "pg"
import Cursor from "pg-cursor"
import { LeveldbPersistence } from "y-leveldb"
import * as Y from "yjs"

const ROWS_AT_A_TIME = 16

/** @typedef {AsyncGenerator<{ name: string, update: Uint8Array }>} Documents */

/**
 * @param {string} from `postgres://...`, `sqlite:FILE`, or a directory of y-leveldb
 * @param {string} table the table of Hocuspocus
 * @returns {Documents}
 */
export function documentsOf(from, table) {
  if (/^postgres(ql)?:/.test(from)) {
    return ofPostgres(from, table)
  }
  return from.startsWith("sqlite:") ? ofSqlite(from.slice("sqlite:".length), table) : ofLeveldb(from)
}

/**
 * Checks first that the database exists, because opening would create it. Reading compacts documents of many updates.
 */
async function* ofLeveldb(folder) {
  await access(join(folder, "CURRENT"))
  const leveldb = new LeveldbPersistence(folder)
  try {
    for (const name of await leveldb.getAllDocNames()) {
      const doc = await leveldb.getYDoc(name)
      yield { name, update: Y.encodeStateAsUpdate(doc) }
      doc.destroy()
    }
  } finally {
    await leveldb.destroy()
  }
}

async function* ofSqlite(file, table) {
  const database = new sqlite.Database(file, { fileMustExist: true, readOnly: true })
  try {
    const rows = prepared(database, file, `SELECT name, data FROM ${quoted(table)}`)
    try {
      for (const { name, data } of rows.iterate()) {
        yield { name, update: data }
      }
    } finally {
      rows.finalize()
    }
  } finally {
    database.close()
  }
}

/** Prepares the first statement, which opens the file. */
function prepared(database, file, statement) {
  try {
    return database.prepare(statement)
  } catch (cause) {
    const advice = "if it is in WAL mode, stop its server and take it out: PRAGMA journal_mode = DELETE"
    throw new Error(`${file} cannot be read: ${cause.message}; ${advice}`, { cause })
  }
}

async function* ofPostgres(url, table) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const cursor = client.query(new Cursor(`SELECT name, data FROM ${quoted(table)}`))
    for (let rows = await cursor.read(ROWS_AT_A_TIME); rows.length > 0; rows = await cursor.read(ROWS_AT_A_TIME)) {
      yield* rows.map(({ name, data }) => ({ name, update: data }))
    }
  } finally {
    await client.end()
  }
}

/** Quotes the name of a table, with or without a schema. */
function quoted(table) {
  return table.split(".").map((part) => `"${part.replaceAll('"', '""')}"`).join(".")
}
