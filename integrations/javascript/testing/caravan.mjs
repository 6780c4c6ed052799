// A server with a temporary directory that the test kills and restarts, and that ends with the test.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Caravan } from "../../../scripts/lib/conformance/server.mjs"

export { until } from "../../../scripts/lib/conformance/server.mjs"

const COMMAND = fileURLToPath(new URL("../../../scripts/caravan", import.meta.url))

/** @param {import("node:test").TestContext} test */
export async function startCaravan(test) {
  const data = await mkdtemp(join(tmpdir(), "caravan-integration-"))
  const server = new Caravan(COMMAND, data)
  test.after(async () => {
    await server.kill("SIGKILL")
    await rm(data, { recursive: true })
  })
  return server.start()
}

/** Sends SIGKILL, and restarts the server with the same data and port. @param {Caravan} server */
export async function killAndRestart(server) {
  await server.kill("SIGKILL")
  await server.start()
}
