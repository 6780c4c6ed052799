// Runs only the automerge-repo suite, which requires vitest and which adapter.test.mjs starts. All other tests use the
// Node test runner. On a busy machine, the largest payload takes longer than the default timeout of 5 s.
export default { test: { include: ["automerge-repo/suite.mjs"], testTimeout: 60_000 } }
