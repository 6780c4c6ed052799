import { runConformanceTests } from "@durable-streams/server-conformance-tests"
import { afterAll, beforeAll } from "vitest"
import { fromEnvironment } from "./server.mjs"

const server = fromEnvironment("suite")
const options = { baseUrl: "" }
beforeAll(async () => {
  options.baseUrl = (await server.start()).url
}, 180_000)
afterAll(() => server.kill("SIGTERM"))

runConformanceTests(options)
