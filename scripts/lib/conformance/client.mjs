// The client of the protocol writes JSON and bytes while another one follows. The server is killed in between.
import { DurableStream, stream } from "@durable-streams/client"
import { check, fromEnvironment, until } from "./server.mjs"

const server = await fromEnvironment("client").start()
try {
  const url = `${server.url}/v1/stream/client/json`
  const writer = await DurableStream.create({ url, contentType: "application/json" })
  await writer.append(JSON.stringify({ n: 0 }))
  const seen = []
  const reader = await stream({ url, offset: "-1", live: "sse" })
  reader.subscribeJson((batch) => {
    seen.push(...batch.items)
  })
  for (let n = 1; n < 50; n++) {
    await writer.append(JSON.stringify({ n }))
  }
  await until(() => seen.length === 50, "the reader has all messages")
  check(seen.every((message, n) => message.n === n), "the messages arrive in order")
  reader.cancel()

  await server.kill("SIGKILL")
  await server.start()
  const again = await stream({ url, offset: "-1", live: false })
  check((await again.json()).length === 50, "every acknowledged message survives a kill")

  const bytes = await DurableStream.create({
    url: `${server.url}/v1/stream/client/bytes`,
    contentType: "application/octet-stream",
  })
  await bytes.append(new Uint8Array([0, 255, 10, 13]))
  await bytes.close()
  const whole = await (await stream({ url: bytes.url, offset: "-1", live: false })).body()
  check(Buffer.from(whole).equals(Buffer.from([0, 255, 10, 13])), "the bytes are read back unchanged")
  console.log("client: ok")
} finally {
  await server.kill("SIGTERM")
}
