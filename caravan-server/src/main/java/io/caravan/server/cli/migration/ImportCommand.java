package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ConnectionOptions.SourceLogin;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.migration.Importer.Existing;
import io.caravan.server.cli.migration.Importer.Outcome;
import io.caravan.server.config.UserFiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "import",
        description = {
            "Imports the documents of a file that 'caravan export' has written into a server, with their sequences and"
                    + " attributes, and reads each back to compare it. A document becomes visible when it is complete.",
            "If the name of a document is taken by another one, it is rejected and reported; all others are imported."
                    + " After an interruption, run the command again: identical documents are not imported again,"
                    + " except with --existing replace.",
            "With --from redis://, imports the lists of a running Redis server instead. The command then reads all"
                    + " lists again, compares them with the imported documents, and imports those that have changed"
                    + " again, until every list is identical to its document.",
            "With --from http://, imports streams of a Durable Streams server, such as Caravan, with content type, expiry,"
                    + " and whether they are closed, from their first value to their current end. Their names come from"
                    + " --name or --names, because the protocol cannot list streams.",
            "A JSON stream is imported message by message, byte for byte. In any other stream, each response of the server"
                    + " becomes a value, or several values if it has more than 256 KiB."
        },
        footer = {
            "  caravan import --from redis://redis.example:6379/0 --from-password-file secret",
            "  caravan import --from http://other.example:4437/v1/stream --name letters/1 --name letters/2",
            "  caravan import --from https://streams.example/v1/stream --names names.txt --from-password-file secret",
            "  caravan import all.export.zst",
            "  caravan import letters.export.gz --existing skip --json"
        })
public final class ImportCommand extends ClientCommand {
    @Parameters(
            paramLabel = "FILE",
            arity = "0..1",
            description = "The file, compressed or not; without it, standard input.")
    private @Nullable Path file;

    @Option(
            names = "--from",
            paramLabel = "URL",
            description = "Import from this server instead of a file. Redis: redis://[USER:PASSWORD@]HOST:PORT[/DB],"
                    + " or rediss:// for TLS. Durable Streams: http://HOST:PORT/PATH, or https:// for TLS, where PATH is"
                    + " the common beginning of the paths of all streams (of a Caravan server: /v1/stream).")
    private @Nullable String from;

    @Mixin
    private SourceLogin login;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "With --from http://: a stream to import, the part of its URL after PATH; may be repeated.")
    private List<String> names = List.of();

    @Option(
            names = "--names",
            paramLabel = "FILE",
            description = "With --from http://: a file with the names of streams, one per line.")
    private @Nullable Path namesFile;

    @Mixin
    private ImportOptions importOptions;

    @Override
    protected void run(Output output) throws IOException {
        check(file == null || from == null, "FILE and --from exclude each other");
        boolean named = !names.isEmpty() || namesFile != null;
        boolean http = from != null && from.matches("(?s)https?:.*");
        check(http || !named, "--name and --names are for --from http://");
        if (from == null) {
            importFile(output);
        } else if (http) {
            check(named, "--from http:// needs the names of streams: --name NAME or --names FILE");
            importStreams(from, output);
        } else {
            importLists(from, output);
        }
    }

    private void importStreams(String url, Output output) throws IOException {
        try (StreamImport streams = new StreamImport(
                        connectionOptions.link(url, login), server(), importOptions.existing(), this::printMessage);
                Progress progress = showProgress(streams::progress)) {
            for (String name : names) {
                streams.add(bytes(name));
            }
            if (namesFile != null) {
                importNamed(namesFile, streams);
            }
            print(output, streams.totals(), "stream");
        }
    }

    private static void importNamed(Path file, StreamImport streams) throws IOException {
        try (BufferedReader lines = UserFiles.reader(file)) {
            for (String name = lines.readLine(); name != null; name = lines.readLine()) {
                if (!name.isEmpty()) {
                    streams.add(bytes(name));
                }
            }
        } catch (CharacterCodingException notText) {
            throw new IOException("--names " + file + " is not UTF-8", notText);
        }
    }

    private void importLists(String url, Output output) throws IOException {
        try (RedisImport lists = new RedisImport(
                        connectionOptions.redis(url, login), server(), importOptions.existing(), this::printMessage);
                Progress progress = showProgress(lists::progress)) {
            lists.run();
            setIncomplete(lists.rejected() > 0);
            lists.print(output);
        }
    }

    private void importFile(Output output) throws IOException {
        TransferTotals totals = new TransferTotals(this::printMessage);
        RateLimitRetries retries = new RateLimitRetries(this::printMessage);
        try (InputStream in = file == null ? console().in() : UserFiles.open(file);
                Progress progress = countProgress("documents");
                DocumentClient target = DocumentClient.ofAllGroups(server())) {
            Importer importer = importOptions.importer(target, retries, totals);
            try {
                new ExportReader(in, progress).readAll(importer);
            } catch (IOException damaged) {
                // The intact documents before the damage count as imported.
                importer.finish();
                throw damaged;
            }
            importer.finish();
            print(output, totals, "document");
        }
    }

    private void print(Output output, TransferTotals totals, String thing) throws IOException {
        setIncomplete(totals.number(Outcome.REJECTED) > 0);
        totals.print(output, "imported", thing);
    }

    /** A mixin with the treatment of documents that exist already, for the commands that import documents. */
    static final class ImportOptions {
        @Option(
                names = "--existing",
                paramLabel = "WHAT",
                defaultValue = "reject",
                description = "What happens to a document whose name is taken: ${COMPLETION-CANDIDATES}. A"
                        + " replaced document stays until the new one is complete.")
        private Existing existing;

        Existing existing() {
            return existing;
        }

        Importer importer(DocumentClient target, RateLimitRetries retries, TransferTotals totals) {
            return new Importer(target, existing, retries, totals);
        }
    }
}
