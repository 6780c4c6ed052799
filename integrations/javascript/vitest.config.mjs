// Only automerge-repo's own suite, which is written for vitest and which adapter.test.mjs runs; the rest runs in Node's runner.
// A busy machine needs more than vitest's five seconds for its largest payload.
export default { test: { include: ["automerge-repo/suite.mjs"], testTimeout: 60_000 } }
