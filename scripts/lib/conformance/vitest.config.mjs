// Some tests of the suite wait 20 s for the end of a long poll.
export default { test: { testTimeout: 40_000, include: ["conformance.test.mjs"] } }
