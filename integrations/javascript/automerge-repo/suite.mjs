// automerge-repo's own suite for storage adapters, against the server that adapter.test.mjs has started.
import { runStorageAdapterTests } from "@automerge/automerge-repo/helpers/tests/storage-adapter-tests.js"
import { CaravanStorageAdapter } from "./index.mjs"

let stores = 0
runStorageAdapterTests(
  async () => ({ adapter: new CaravanStorageAdapter({ url: process.env.CARAVAN_URL, prefix: `suite-${stores++}/` }) }),
  "Caravan",
)
