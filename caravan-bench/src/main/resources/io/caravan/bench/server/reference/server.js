// Runs the reference server with its file storage until it is killed: node server.js PORT DIRECTORY
import { DurableStreamTestServer } from "@durable-streams/server"

const [port, dataDir] = process.argv.slice(2)
const server = new DurableStreamTestServer({ host: "127.0.0.1", port: Number(port), dataDir })
console.log(`serves on ${await server.start()}`)
