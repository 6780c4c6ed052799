// Some of the suite's tests wait for a long poll to end, which takes 20 seconds.
export default { test: { testTimeout: 40_000, include: ["conformance.test.mjs"] } }
