// A document server for a collaborative editor. A document is a list of lines, and an edit sets the text of one line.
// Editors send edits with POST, and receive them as server-sent events (EventSource in a browser).
//
// Each document is a journal in Caravan: an edit is one append, and is durable before any editor sees it. Kill this
// server or Caravan at any time: after a restart, no edit that was acknowledged with 204 is missing.
import { createServer } from "node:http"
import { json } from "node:stream/consumers"
import { Caravan, Journal } from "../../integrations/javascript/client/index.mjs"

// Requests to Caravan are retried for `patienceMs` while it is unavailable, for example while it restarts.
const caravan = new Caravan({ url: process.env.CARAVAN_URL, patienceMs: 60_000 })
/** The open documents. A real document server would close those without editors. @type {Map<string, Promise<Document>>} */
const documents = new Map()

const encode = (edit) => new TextEncoder().encode(JSON.stringify(edit))
const decode = (record) => JSON.parse(new TextDecoder().decode(record))
const send = (editor, edit) => editor.write(`data: ${JSON.stringify(edit)}\n\n`)

/** Returns the last edit of each line, which has the same meaning as all edits. The journal uses it to compact itself. */
const fold = (records) => [...new Map(records.map((record) => [decode(record).line, record])).values()]

class Document {
  #lines = []
  #editors = new Set()
  #failed = false

  /** Reads the document. A read of a journal comes after all earlier appends, including those of a failed document. */
  async load(name, journal = new Journal(caravan, name, fold)) {
    this.name = name
    this.journal = journal
    const records = await this.journal.read()
    records.map(decode).forEach(({ line, text }) => (this.#lines[line] = text))
    return this
  }

  /** Returns once the edit is on disk. Edits that arrive at about the same time share one request and one fsync. */
  async edit({ line, text }) {
    if (!Number.isInteger(line) || line < 0 || line > 9_999 || typeof text !== "string") {
      throw new SyntaxError('send {"line": NUMBER, "text": TEXT}')
    }
    try {
      await this.journal.append(encode({ line, text }))
    } catch (error) {
      // It is unknown whether the edit is stored. The editors reconnect, and the document is read again.
      if (!this.#failed) {
        this.#failed = true
        open(this.name, this.journal)
      }
      this.#editors.forEach((editor) => editor.end())
      throw error
    }
    this.#lines[line] = text
    this.#editors.forEach((editor) => send(editor, { line, text }))
  }

  /** Sends the lines of the document, then each edit as it happens. */
  watch(editor) {
    editor.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders()
    this.#lines.forEach((text, line) => send(editor, { line, text }))
    editor.on("close", () => this.#editors.delete(editor))
    this.#editors.add(editor)
  }

  toString = () => Array.from(this.#lines, (text) => `${text ?? ""}\n`).join("")
}

function open(name, journal) {
  const loading = new Document().load(name, journal)
  documents.set(name, loading)
  loading.catch(() => documents.delete(name))
  return loading
}

async function handle(request, response) {
  const name = decodeURIComponent(request.url.slice(1))
  const document = await (documents.get(name) ?? open(name))
  if (request.method === "POST") {
    await document.edit(await json(request))
    return response.writeHead(204).end()
  }
  return request.headers.accept === "text/event-stream" ? document.watch(response) : response.end(`${document}`)
}

const server = createServer((request, response) => handle(request, response)
  .catch((error) => response.writeHead(error instanceof SyntaxError ? 400 : 503).end(`${error.message}\n`)))
server.listen(process.env.PORT ?? 8080, "127.0.0.1", () =>
  console.log(`documents are at http://127.0.0.1:${server.address().port}/NAME`))
