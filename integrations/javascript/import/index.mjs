#!/usr/bin/env node
// Copies the documents of y-leveldb or of a Hocuspocus database to Caravan, where its integrations find them.
import { parseArgs } from "node:util"
import { Caravan, Journal } from "caravan-client"
import { applyAll, foldUpdates } from "caravan-client/yjs"
import * as Y from "yjs"
import { documentsOf } from "./sources.mjs"

const HELP = `Usage: caravan-import FROM [--url URL] [--prefix PREFIX] [--table TABLE]

Brings the Yjs documents of another store into Caravan, and reads each back to compare it. A document that is there
already gets what it lacks, so an import that was ended goes on when it is run again.

  FROM             a folder of y-leveldb; sqlite:FILE or postgres://..., with the table of Hocuspocus
  --url URL        Caravan's HTTP address (http://127.0.0.1:4437); its token is in the environment, CARAVAN_TOKEN
  --prefix PREFIX  what the names in Caravan begin with, as in the integration's options
  --table TABLE    Hocuspocus's (documents), with the columns name and data

  caravan-import ./yjs-storage --prefix letters/
  caravan-import sqlite:db.sqlite
  caravan-import postgres://reader@db.example/app --table collab.documents
`
const AT_ONCE = 8
const PROGRESS_MS = 2_000

/**
 * Copies a document.
 *
 * @returns {Promise<boolean>} false if the document was already complete
 */
async function bring({ name, update }, caravan, prefix) {
  const journal = new Journal(caravan, prefix + name, foldUpdates(Y))
  const missing = await lacking(journal, update)
  if (missing === null) {
    return false
  }
  await journal.append(missing)
  if ((await lacking(journal, update)) !== null) {
    throw new Error("what was read back lacks some of it: was it changed by a program that is no integration?")
  }
  return true
}

/** Returns the part of an update that a document lacks, or null. */
async function lacking(journal, update) {
  const stored = new Y.Doc()
  applyAll(Y, stored, await journal.read(), null, console.error)
  const all = Y.snapshotContainsUpdate(Y.snapshot(stored), update)
  const missing = all ? null : Y.diffUpdate(update, Y.encodeStateVector(stored))
  stored.destroy()
  return missing
}

async function run(from, { url, prefix, table }) {
  const caravan = new Caravan({ url, token: process.env.CARAVAN_TOKEN })
  const counts = { brought: 0, already: 0, failed: 0 }
  const line = () => `${counts.brought} documents brought, ${counts.already} were there already, ${counts.failed} failed`
  const progress = setInterval(() => console.error(line()), PROGRESS_MS)
  const documents = documentsOf(from, table)
  const worker = async () => {
    for (let next = await documents.next(); !next.done; next = await documents.next()) {
      try {
        counts[(await bring(next.value, caravan, prefix)) ? "brought" : "already"]++
      } catch (error) {
        counts.failed++
        console.error(`document '${next.value.name}': ${error.message}`)
      }
    }
  }
  try {
    // An async generator queues the requests and returns one document at a time.
    const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker))
    const failed = ends.find(({ status }) => status === "rejected")
    if (failed) {
      throw failed.reason
    }
  } finally {
    clearInterval(progress)
  }
  console.log(line())
  return counts.failed === 0 ? 0 : 3
}

function parsed() {
  const string = (value) => ({ type: "string", default: value })
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      url: string("http://127.0.0.1:4437"), prefix: string(""), table: string("documents"), help: { type: "boolean" },
    },
  })
  if (!values.help && positionals.length !== 1) {
    throw Object.assign(new Error("name one place to bring documents from; --help tells more"), { code: "ERR_PARSE_ARGS" })
  }
  return { from: positionals[0], options: values }
}

try {
  const { from, options } = parsed()
  if (options.help) {
    console.log(HELP)
  } else {
    process.exitCode = await run(from, options)
  }
} catch (error) {
  console.error(`caravan-import: ${error.message}`)
  process.exitCode = error.code?.startsWith?.("ERR_PARSE_ARGS") ? 2 : 1
}
