// Only automerge-repo's own suite, which is written for vitest and which adapter.test.mjs runs; the rest runs in Node's runner.
export default { test: { include: ["automerge-repo/suite.mjs"] } }
