// The automerge-repo suite for storage adapters, with the server that adapter.test.mjs has started.
import { runStorageAdapterTests } from "@automerge/automerge-repo/helpers/tests/storage-adapter-tests.js"
import { CaravanStorageAdapter } from "./index.mjs"

let stores = 0
runStorageAdapterTests(
  async () => ({ adapter: new CaravanStorageAdapter({ url: process.env.CARAVAN_URL, prefix: `suite-${stores++}/` }) }),
  "Caravan",
)
