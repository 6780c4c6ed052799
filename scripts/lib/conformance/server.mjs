// A server that can be killed and restarted with the same data and port.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"

export class Caravan {
  constructor(command, data) {
    this.command = command
    this.data = data
    this.port = 0
    this.respPort = 0
  }

  async start() {
    const words = ["serve", "--data", this.data, "--archive", "none"]
    words.push("--resp", `127.0.0.1:${this.respPort}`, "--http", `127.0.0.1:${this.port}`)
    this.process = spawn(this.command, words, { stdio: ["ignore", "pipe", "inherit"] })
    this.ended = once(this.process, "exit")
    for await (const line of createInterface({ input: this.process.stdout })) {
      const announced = /RESP on 127\.0\.0\.1:(\d+), HTTP on 127\.0\.0\.1:(\d+)/.exec(line)
      if (announced) {
        this.respPort = Number(announced[1])
        this.port = Number(announced[2])
        this.process.stdout.resume()
        return this
      }
    }
    throw new Error("the server did not start")
  }

  get url() {
    return `http://127.0.0.1:${this.port}`
  }

  async kill(signal) {
    this.process.kill(signal)
    await this.ended
  }
}

// A server that is already running and stays running.
const running = (url) => ({ url, start: async () => ({ url }), kill: async () => {} })

export function fromEnvironment(name) {
  if (process.env.CARAVAN_URL) {
    return running(process.env.CARAVAN_URL)
  }
  return new Caravan(process.env.CARAVAN, `${process.env.CARAVAN_DATA}/${name}`)
}

export function check(holds, otherwise) {
  if (!holds) {
    throw new Error(otherwise)
  }
}

export async function until(condition, what, seconds = 30) {
  const deadline = Date.now() + seconds * 1000
  while (!(await condition())) {
    check(Date.now() < deadline, `timed out waiting until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
