package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.migration.Importer.Existing;
import picocli.CommandLine.Option;

/** A mixin with the treatment of documents that exist already, for the commands that import documents. */
final class ImportOptions {
    @Option(
            names = "--existing",
            paramLabel = "WHAT",
            defaultValue = "reject",
            description = "What happens to a document whose name is taken: ${COMPLETION-CANDIDATES}. A"
                    + " replaced document stays until the new one is complete.")
    private Existing existing;

    @Option(names = "--resume", description = "An identical document that exists already counts as transferred.")
    private boolean resume;

    Existing existing() {
        return existing;
    }

    Importer importer(DocumentClient target, RateLimitRetries retries, TransferTotals totals) {
        return new Importer(target, existing, resume, retries, totals);
    }
}
