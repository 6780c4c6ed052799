// Sends names, appends, and event streams through nginx, and checks at the server what has arrived.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import http from "node:http"
import net from "node:net"
import { join } from "node:path"
import { pathOf } from "../../../integrations/javascript/client/caravan.mjs"
import { Caravan, until } from "../conformance/server.mjs"

const [work, page] = process.argv.slice(2)
const TEXT = { "Content-Type": "text/plain" }
const NAMES = [
  "plain", "a/b", "a//b", "room/../secret", "secret", "room/./x", "room/x", "..", ".", "/a", "a/", "a", "a//", "__name/a",
  "100%", "a%2Fb", "it's (a) ~!*", "über/ñ", "a?b#c", "a b+c", "back\\slash", "a;b=c&d",
]
const say = (text) => console.log(`proxy: ${text}`)

async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address()
  server.close()
  await once(server, "close")
  return port
}

/** Returns the configuration in the document with other addresses and without the certificate. */
function documented(port, listen) {
  const [, block] = /```nginx\n([^]*?)```/.exec(readFileSync(page, "utf8"))
  assert.match(block, /listen 443 ssl;/)
  assert.match(block, /127\.0\.0\.1:4437/)
  return block.replace("127.0.0.1:4437", `127.0.0.1:${port}`).replace("listen 443 ssl;", `listen 127.0.0.1:${listen};`)
}

/** Starts nginx. Retries because another process may take a free port first. */
async function startNginx(port) {
  for (let tries = 1; ; tries++) {
    try {
      return await tryNginx(port)
    } catch (error) {
      if (tries === 5) throw error
    }
  }
}

async function tryNginx(port) {
  const ports = { documented: await freePort(), defaults: await freePort(), rewriting: await freePort() }
  const config = `
daemon off;
worker_processes 1;
pid ${work}/nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
  client_body_temp_path ${work}/body;
  proxy_temp_path ${work}/proxy;
  fastcgi_temp_path ${work}/fastcgi;
  uwsgi_temp_path ${work}/uwsgi;
  scgi_temp_path ${work}/scgi;
  ${documented(port, ports.documented)}
  server { listen 127.0.0.1:${ports.defaults}; location / { proxy_pass http://127.0.0.1:${port}; } }
  server { listen 127.0.0.1:${ports.rewriting}; location /caravan/ { proxy_pass http://127.0.0.1:${port}/; } }
}
`
  writeFileSync(join(work, "nginx.conf"), config)
  const nginx = spawn("nginx", ["-p", work, "-c", join(work, "nginx.conf"), "-e", "stderr"], { stdio: "inherit" })
  let ended = false
  nginx.on("exit", () => (ended = true))
  const answers = (at) => fetch(`http://127.0.0.1:${at}/caravan/healthz`).then(() => true, () => false)
  await until(async () => {
    assert.ok(!ended, "nginx has ended")
    return (await Promise.all(Object.values(ports).map(answers))).every(Boolean)
  }, "nginx answers")
  return { ports, stop: () => nginx.kill("SIGTERM") }
}

async function send(method, url, options = {}) {
  const response = await fetch(url, { method, ...options })
  return { status: response.status, headers: response.headers, body: await response.text() }
}

/** Sends a path unchanged, which fetch does not do. */
function sendRaw(port, method, path) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: "127.0.0.1", port, method, path, headers: TEXT }, (response) => {
      let body = ""
      response.on("data", (data) => (body += data)).on("end", () => resolve({ status: response.statusCode, body }))
    })
    request.on("error", reject).end(method === "POST" ? "raw" : undefined)
  })
}

async function documents(server) {
  const { body } = await send("GET", `${server}/v1/documents?limit=1000`)
  return new Map(JSON.parse(body).documents.map(({ name, path }) => [name, path]))
}

/** Checks that each name is a separate document for any spelling of its address. */
async function names(server, proxy, spell, kind) {
  for (const name of NAMES) {
    const url = `${proxy}/v1/stream/${spell(name)}`
    assert.equal((await send("PUT", url, { headers: TEXT, body: `${kind}: ` })).status, 201, name)
    assert.equal((await send("POST", url, { headers: TEXT, body: name })).status, 204, name)
  }
  const found = await documents(server)
  assert.deepEqual([...found.keys()].sort(), [...NAMES].sort())
  for (const name of NAMES) {
    const value = `${kind}: ${name}`
    assert.equal((await send("GET", server + found.get(name))).body, value, "at the server")
    assert.equal((await send("GET", proxy + found.get(name))).body, value, "through the proxy, at the server's address")
    assert.equal((await send("GET", `${proxy}/v1/stream/${spell(name)}`)).body, value, "as it was spelled")
  }
  for (const path of found.values()) assert.equal((await send("DELETE", proxy + path)).status, 204)
  assert.equal((await documents(server)).size, 0)
  say(`${NAMES.length} names, ${kind}`)
}

// Names whose addresses fetch would change.
const dotsAlone = (name) => name === "." || name === ".."
const encoded = (name) => (dotsAlone(name) ? pathOf(name) : name === "__name/a" ? pathOf(name) : encodeURIComponent(name))

async function dotSegments(server, port, prefix) {
  await send("PUT", `${server}/v1/stream/secret`, { headers: TEXT, body: "secret" })
  for (const method of ["GET", "POST", "DELETE"]) {
    const refused = await sendRaw(port, method, `${prefix}/v1/stream/room/../secret`)
    assert.equal(refused.status, 400)
    assert.match(refused.body, /dot_segment/)
  }
  assert.equal((await send("GET", `${server}/v1/stream/secret`)).body, "secret")
  await send("DELETE", `${server}/v1/stream/secret`)
  say("paths with dot segments are rejected")
}

/** Checks that events and the comments between them arrive one by one. */
async function events(server, proxy, kind) {
  const url = `${proxy}/v1/stream/live`
  await send("PUT", url, { headers: TEXT })
  const aborted = new AbortController()
  const response = await fetch(`${url}?offset=now&live=sse`, { signal: aborted.signal })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let come = ""
  const waitFor = async (text) => {
    while (!come.includes(text)) {
      const { done, value } = await reader.read()
      assert.ok(!done, `the stream ended before ${JSON.stringify(text)} came: ${come}`)
      come += value
    }
    come = come.slice(come.indexOf(text) + text.length)
  }
  await waitFor("event: control")
  for (let i = 0; i < 3; i++) {
    // Sends the next event only after the previous one has arrived, because a proxy that buffers events would delay it
    // forever.
    await send("POST", `${server}/v1/stream/live`, { headers: TEXT, body: `value ${i}` })
    await waitFor(`data:value ${i}\n`)
    await waitFor("\n:\n")
  }
  aborted.abort()
  await send("DELETE", url)
  say(`events as they come, ${kind}`)
}

async function location(proxy) {
  const url = `${proxy}/v1/stream/made/here`
  const made = await send("PUT", url, { headers: TEXT })
  assert.equal(made.status, 201)
  assert.equal(new URL(made.headers.get("Location"), url).href, url)
  await send("DELETE", url)
}

async function check(server) {
  const { ports, stop } = await startNginx(server.port)
  try {
    const documentedAt = `http://127.0.0.1:${ports.documented}/caravan`
    const defaultsAt = `http://127.0.0.1:${ports.defaults}`
    await names(server.url, documentedAt, encoded, "spelled by encodeURIComponent, below a prefix")
    await names(server.url, documentedAt, pathOf, "spelled as the server does, below a prefix")
    await names(server.url, defaultsAt, encoded, "spelled by encodeURIComponent, by nginx's defaults")
    await names(server.url, `http://127.0.0.1:${ports.rewriting}/caravan`, pathOf, "spelled as the server does, rewritten")
    await dotSegments(server.url, ports.documented, "/caravan")
    await dotSegments(server.url, ports.defaults, "")
    await events(server.url, documentedAt, "below a prefix")
    await events(server.url, defaultsAt, "by nginx's defaults")
    await location(documentedAt)
    const console = await fetch(`${documentedAt}/console`)
    assert.equal(console.url, `${documentedAt}/console/`)
    assert.match(await console.text(), /<title>Caravan<\/title>/)
  } finally {
    stop()
  }
}

const server = new Caravan(process.env.CARAVAN, join(work, "data"))
process.env.CARAVAN_EVENT_STREAM_HEARTBEAT = "1s"
await server.start()
try {
  await check(server)
} finally {
  await server.kill("SIGTERM")
}
say("all well")
