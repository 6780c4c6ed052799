package io.caravan.server.cli.migration;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ConnectionOptions.SourceLogin;
import io.caravan.server.cli.client.ConnectionOptions.SourceServer;
import io.caravan.server.cli.client.ConnectionOptions.TargetServer;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.NameSink;
import io.caravan.server.cli.client.RespDocumentClient;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.migration.ExportFile.Compression;
import io.caravan.server.cli.migration.Importer.Existing;
import io.caravan.server.cli.migration.Importer.Outcome;
import io.caravan.server.document.MoveStep;
import io.caravan.server.document.RedirectTarget;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands that transfer documents between servers and files. */
public final class MigrationCommands {
    private MigrationCommands() {}

    @Command(
            name = "export",
            description = {
                "Writes a document, or all that the user may read, to a file: values, sequences, and attributes, as lines of"
                        + " JSON. 'caravan import' imports them into any server.",
                "Each document is exported as it was at one moment; different documents may be from different moments. The"
                        + " file gets its name when it is complete and durable; until then, its name ends in .partial."
                        + " Without --out, the export is written to standard output."
            },
            footer = {
                "  caravan export --out all.ndjson.zst",
                "  caravan export --prefix letters/ --out letters.ndjson.gz --resume",
                "  caravan export letters/1 | grep '\"type\":\"value\"'"
            })
    public static final class Export extends ClientCommand {
        @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document; without it, all documents.")
        private @Nullable String name;

        @Option(names = "--prefix", paramLabel = "PREFIX", description = "All documents whose names start with this.")
        private @Nullable String prefix;

        @Option(names = "--out", paramLabel = "FILE", description = "The file to create; it must not exist.")
        private @Nullable Path file;

        @Option(
                names = "--compress",
                paramLabel = "HOW",
                description =
                        "${COMPLETION-CANDIDATES}; by default according to the file's name: .gz, .zst, or neither.")
        private @Nullable Compression compression;

        @Option(
                names = "--resume",
                description = "Resume an interrupted export to this file, after its last complete document.")
        private boolean resume;

        @Override
        protected boolean onlyReads() {
            return file == null;
        }

        @Override
        protected void run(Output output) throws IOException {
            check(name == null || prefix == null, "NAME and --prefix exclude each other");
            check(!resume || file != null, "--resume needs --out");
            if (file == null) {
                OutputStream out = chosen("").compress(console().out());
                ExportWriter writer = new ExportWriter(out);
                export(writer, Set.of());
                writer.finish();
                out.close();
            } else {
                toFile(file, output);
            }
        }

        private Compression chosen(String fileName) {
            return compression == null ? Compression.of(fileName) : compression;
        }

        private void toFile(Path to, Output output) throws IOException {
            try (ExportFile made = new ExportFile(to, chosen(to.toString()))) {
                ExportWriter writer = resume ? made.resume() : made.begin();
                export(writer, made.names());
                made.finish(writer);
                TransferTotals totals = writer.totals();
                String line = "exported " + totals.transferred("document") + " to " + to;
                output.print(DocumentName.printable(line), Output.fields(totals.fields(), "file", to.toString()));
            }
        }

        private void export(ExportWriter writer, Set<DocumentName> without) throws IOException {
            List<ServerConnection.Connector> servers = name == null ? leaders() : List.of(this::connect);
            boolean whole = true;
            try (Progress progress = countProgress("documents")) {
                for (ServerConnection.Connector server : servers) {
                    try (DocumentClient client = new RespDocumentClient(server)) {
                        whole &= export(client, new Exporter(client, writer, progress), without);
                    }
                }
            }
            if (!whole) {
                throw ClientException.otherState("not all documents were exported; try again with --resume");
            }
        }

        /** Exports the documents of one server, and returns whether all of them were exported. */
        private boolean export(DocumentClient server, Exporter exporter, Set<DocumentName> without) throws IOException {
            if (name == null) {
                requireComplete(server);
                exporter.all(bytes(Objects.requireNonNullElse(prefix, "")), without);
            } else if (!without.contains(DocumentName.of(name)) && !exporter.one(bytes(name))) {
                throw ClientException.missing(name);
            }
            exporter.failures().forEach(this::printMessage);
            return exporter.failures().isEmpty();
        }
    }

    @Command(
            name = "import",
            description = {
                "Imports the documents of a file that 'caravan export' has written into a server, with their sequences and"
                        + " attributes, and reads each back to compare it. A document becomes visible when it is complete.",
                "A document whose name exists is rejected and reported; all others are imported. An interrupted import is"
                        + " resumed with --resume.",
                "With --from redis://, imports the lists of a running Redis server instead. The command then reads all"
                        + " lists again, compares them with the imported documents, and imports those that have changed"
                        + " again, until every list is identical to its document.",
                "With --from http://, imports streams of a Durable Streams server, such as Caravan, with content type, expiry,"
                        + " and whether they are closed, from their first value to their current end. Their names come from"
                        + " --name or --names, because the protocol cannot list streams.",
                "A JSON stream is imported message by message, byte for byte. In any other stream, each response of the server"
                        + " becomes a value, or several values if it has more than 256 KiB.",
                "Run an interrupted import with --from again: identical documents are not imported again."
            },
            footer = {
                "  caravan import --from redis://redis.example:6379/0 --from-password-file secret",
                "  caravan import --from http://other.example:4437/v1/stream --name letters/1 --name letters/2",
                "  caravan import --from https://streams.example/v1/stream --names names.txt --from-password-file secret",
                "  caravan import all.ndjson.zst",
                "  caravan import letters.ndjson.gz --resume --json",
                "  gunzip -c letters.ndjson.gz | caravan import --existing skip"
            })
    public static final class Import extends ClientCommand {
        private static final Path STANDARD_INPUT = Path.of("-");

        @Parameters(
                paramLabel = "FILE",
                arity = "0..1",
                description = "The file, compressed or not; without it, or with -, standard input.")
        private @Nullable Path file;

        @Option(
                names = "--from",
                paramLabel = "URL",
                description =
                        "Import from this server instead of a file. Redis: redis://[USER:PASSWORD@]HOST:PORT[/DB],"
                                + " or rediss:// for TLS. Durable Streams: http://HOST:PORT/PATH, or https:// for TLS, where PATH is"
                                + " the common beginning of the paths of all streams (of a Caravan server: /v1/stream).")
        private @Nullable String from;

        @Mixin
        private SourceLogin login;

        @Option(
                names = "--name",
                paramLabel = "NAME",
                description =
                        "With --from http://: a stream to import, the part of its URL after PATH; may be repeated.")
        private List<String> names = List.of();

        @Option(
                names = "--names",
                paramLabel = "FILE",
                description = "With --from http://: a file with the names of streams, one per line.")
        private @Nullable Path namesFile;

        @Option(
                names = "--existing",
                paramLabel = "WHAT",
                defaultValue = "reject",
                description = "What happens to a document whose name is taken: ${COMPLETION-CANDIDATES}. A"
                        + " replaced document stays until the new one is complete.")
        private Existing existing;

        @Option(names = "--resume", description = "An identical document that exists already counts as imported.")
        private boolean resume;

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
                            connectionOptions.link(url, login), this::connect, existing, this::printMessage);
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
            try (BufferedReader lines = Files.newBufferedReader(file)) {
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
                            () -> connectionOptions.redis(url, login), this::connect, existing, this::printMessage);
                    Progress progress = showProgress(lists::progress)) {
                lists.run();
                setIncomplete(lists.rejected() > 0);
                output.print(lists.line(), lists.fields());
            }
        }

        private void importFile(Output output) throws IOException {
            TransferTotals totals = new TransferTotals(this::printMessage);
            RateLimitRetries retries = new RateLimitRetries(this::printMessage);
            try (InputStream in = file == null || file.equals(STANDARD_INPUT)
                            ? console().in()
                            : Files.newInputStream(file);
                    Progress progress = countProgress("documents");
                    DocumentClient target = new RespDocumentClient(this::connect)) {
                Importer importer = new Importer(target, existing, resume, retries, totals);
                try {
                    new ExportReader(Compression.decompressed(in), progress).readAll(importer);
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
            output.print(
                    "imported " + totals.transferred(thing) + totals.others(),
                    Output.fields(totals.fields(), totals.otherFields()));
        }
    }

    /** The options of the commands that transfer documents between two servers. */
    private abstract static class BetweenServers extends ClientCommand {
        @Option(names = "--prefix", paramLabel = "PREFIX", description = "All documents whose names start with this.")
        protected @Nullable String prefix;

        @Mixin
        protected SourceServer source;

        @Mixin
        protected TargetServer other;

        protected final ServerPair servers() {
            return new ServerPair(
                    () -> source.documents(connectionOptions),
                    () -> other.documents(connectionOptions),
                    this::printMessage);
        }

        /** Returns the beginning of the names of all documents to transfer. */
        protected final byte[] allNames() {
            return bytes(Objects.requireNonNullElse(prefix, ""));
        }
    }

    @Command(
            name = "copy",
            description = {
                "Copies a document, or all that the user may read, from the server to another one, with their sequences and"
                        + " attributes, and reads each back to compare it. Each is copied as it was at one moment, and becomes"
                        + " visible when it is complete. The servers do not connect to each other. The other one is reached"
                        + " over RESP, or over HTTP if --to is a URL.",
                "A document whose name exists there is rejected and reported; all others are copied. An interrupted copy is"
                        + " resumed with --resume."
            },
            footer = {
                "  caravan copy letters/1 --to other.example:6380",
                "  caravan copy --prefix letters/ --to other.example:6380 --to-user mover --to-password-file secret"
                        + " --resume",
                "  caravan copy --prefix letters/ --to other.example:6380 --follow",
                "  caravan copy --prefix letters/ --to https://other.example:4437 --to-password-file secret"
            })
    public static final class Copy extends BetweenServers {
        @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document; without it, all documents.")
        private @Nullable String name;

        @Option(
                names = "--existing",
                paramLabel = "WHAT",
                defaultValue = "reject",
                description = "What happens to a document whose name is taken there: ${COMPLETION-CANDIDATES}.")
        private Existing existing;

        @Option(names = "--resume", description = "An identical document that exists there already counts as copied.")
        private boolean resume;

        @Option(
                names = "--follow",
                description =
                        "Keep copying changes, until Ctrl-C or until the document is moved. A document whose first values"
                                + " exist there already is continued.")
        private boolean follow;

        @Override
        protected void run(Output output) throws IOException {
            check(name == null || prefix == null, "NAME and --prefix exclude each other");
            if (name == null) {
                requireAllListed(source);
            }
            if (follow) {
                follow(output);
            } else {
                copy(output);
            }
        }

        private void follow(Output output) throws IOException {
            byte[] one = name == null ? null : bytes(name);
            try (ServerPair servers = servers()) {
                DocumentFollower follower =
                        new DocumentFollower(servers, existing, false, one, allNames(), this::printMessage);
                Output.Writing work = () -> {
                    try (Progress progress = showProgress(follower::progress)) {
                        follower.follow();
                    }
                    output.print(follower.line(), follower.fields());
                    output.flush();
                    setIncomplete(follower.rejected() > 0);
                };
                runUntilSignal(servers::stop, work);
            }
        }

        private void copy(Output output) throws IOException {
            RateLimitRetries retries = new RateLimitRetries(this::printMessage);
            TransferTotals totals = new TransferTotals(this::printMessage);
            try (Progress progress = countProgress("documents");
                    DocumentClient to = other.documents(connectionOptions);
                    DocumentClient from = source.documents(connectionOptions)) {
                Importer importer = new Importer(to, existing, resume, retries, totals);
                Exporter exporter = new Exporter(from, importer, progress);
                if (name == null) {
                    exporter.all(allNames(), Set.of());
                } else if (!exporter.one(bytes(name))) {
                    throw ClientException.missing(name);
                }
                importer.finish();
                exporter.failures().forEach(this::printMessage);
                setIncomplete(totals.number(Outcome.REJECTED) > 0
                        || !exporter.failures().isEmpty());
                output.print(
                        "copied " + totals.transferred("document") + totals.others(),
                        Output.fields(totals.fields(), totals.otherFields()));
            }
        }
    }

    @Command(
            name = "move",
            description = {
                "Moves a document, or all whose names start with a prefix, to another server while clients keep writing. The"
                        + " document is copied until few values are missing, then fenced: writes are rejected with MOVING, and"
                        + " reads continue. It is copied to its end, compared, and deleted here once the other server has all"
                        + " of it. A redirect stays: clients get RELOCATED with the new address, over HTTP 307 with a Location.",
                "Every acknowledged write arrives there, once. If a move was interrupted, or a server was lost for long, run the"
                        + " move again; a fenced document stays fenced until then, or until --abandon."
            },
            footer = {
                "  caravan move letters/1 --to other.example:6380",
                "  caravan move --prefix letters/ --to other.example:6380 --redirect-to other.example:6380"
                        + " --redirect-to https://other.example:4437",
                "  caravan move letters/1 --to other.example:6380 --abandon"
            })
    public static final class Move extends BetweenServers {
        @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document.")
        private @Nullable String name;

        @Option(
                names = "--redirect-to",
                paramLabel = "ADDRESS",
                description = "Where clients find the other server, by default as --to: HOST:PORT over RESP,"
                        + " http://HOST:PORT or https://HOST:PORT over HTTP; may be given once for each.")
        private List<String> addresses = List.of();

        @Option(
                names = "--abandon",
                description = "Remove the fences of documents, and move none. What was copied stays there.")
        private boolean abandon;

        @Option(names = "--forget", description = "Remove the redirect of the document, which frees the name.")
        private boolean forget;

        @Override
        protected void run(Output output) throws IOException {
            check(name == null != (prefix == null), "either NAME or --prefix is required");
            check(!abandon || !forget, "--abandon and --forget exclude each other");
            check(!forget || name != null, "--forget needs NAME");
            if (name == null) {
                requireAllListed(source);
            }
            if (forget) {
                forget(output, Objects.requireNonNull(name));
            } else if (abandon) {
                abandon(output);
            } else {
                move(output);
            }
        }

        private void move(Output output) throws IOException {
            byte[] one = name == null ? null : bytes(name);
            try (ServerPair servers = servers()) {
                DocumentFollower follower =
                        new DocumentFollower(servers, Existing.REJECT, true, one, allNames(), this::printMessage);
                DocumentMigration migration = new DocumentMigration(servers, follower, redirectTarget());
                try (Progress progress = showProgress(migration::progress)) {
                    if (one == null) {
                        migration.all(allNames());
                    } else {
                        migration.one(one);
                    }
                }
                setIncomplete(follower.rejected() > 0);
                output.print(migration.line(), migration.fields());
            }
        }

        private RedirectTarget redirectTarget() {
            List<String> given = addresses.isEmpty() ? List.of(other.address()) : addresses;
            try {
                return RedirectTarget.parse(String.join(" ", given));
            } catch (IllegalArgumentException invalid) {
                check(false, "--redirect-to: " + invalid.getMessage());
                throw invalid;
            }
        }

        private void forget(Output output, String one) throws IOException {
            try (DocumentClient carrier = source.documents(connectionOptions)) {
                if (!carrier.move(bytes(one), new MoveStep(MoveStep.Kind.FORGET, OptionalLong.empty(), null))) {
                    throw ClientException.otherState("there is no redirect from '" + one + "'");
                }
            }
            output.print("removed 1 redirect", Map.of("forgotten", 1));
        }

        private void abandon(Output output) throws IOException {
            AtomicLong abandoned = new AtomicLong();
            try (DocumentClient carrier = source.documents(connectionOptions)) {
                MoveStep step = new MoveStep(MoveStep.Kind.ABANDON, OptionalLong.empty(), null);
                NameSink unfence = names -> abandoned.addAndGet(
                        names.stream().filter(each -> carrier.move(each, step)).count());
                if (name != null) {
                    unfence.take(List.of(bytes(name)));
                } else {
                    carrier.scanAll(allNames(), unfence);
                }
            }
            long freed = abandoned.get();
            output.print(
                    "removed the " + (freed == 1 ? "fence" : "fences") + " of " + Figures.count(freed, "document"),
                    Map.of("abandoned", freed));
        }
    }
}
