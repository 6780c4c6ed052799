package io.caravan.server.cli.document;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Names;
import io.caravan.server.cli.client.DocumentClient.Value;
import io.caravan.server.cli.client.RespDocumentClient;
import io.caravan.server.cli.client.Retries;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands that read, list, trim, and delete documents, and the command that prints statistics. */
public final class DocumentCommands {
    private DocumentCommands() {}

    @Command(
            name = "get",
            description = {
                "Prints the values of a document, oldest first, up to the last value that exists when the command"
                        + " starts.",
                "As text, each value is printed as its bytes, followed by a line break. As JSON, each value is an object"
                        + " {\"sequence\":n,\"value\":\"text\"}, or {\"sequence\":n,\"base64\":\"...\"} if it is not"
                        + " UTF-8."
            },
            footer = {
                "  caravan get letters/1",
                "  caravan get letters/1 --from 1000 --count 10 --output json",
                "  caravan get pictures --from 7 --count 1 --raw > picture.png"
            })
    public static final class Get extends ClientCommand implements ReadOnly {
        @Parameters(paramLabel = "NAME", description = "The document.")
        private String name;

        @Option(
                names = "--from",
                paramLabel = "SEQUENCE",
                description = "First sequence to print, instead of the first that" + " the document retains.")
        private @Nullable Long from;

        @Option(names = "--count", paramLabel = "N", description = "Maximum number of values.")
        private @Nullable Long count;

        @Mixin
        private ValuePrinter printer;

        @Override
        protected void run(Output output) throws IOException {
            atLeast(0, from, "--from", 0);
            long most = atLeast(1, count, "--count", Long.MAX_VALUE);
            check(!printer.raw() || !json(), "--raw and --output json exclude each other");
            try (RespDocumentClient documents = documents();
                    Progress progress = countProgress("values")) {
                Description document = documents.find(bytes(name));
                if (document == null) {
                    throw ClientException.missing(name);
                }
                long first = from == null ? document.first() : from;
                checkRetained(document, first);
                long end = first + Math.min(most, document.next() - first);
                documents.read(bytes(name), document, first, end, value -> {
                    printer.print(value, json(), output);
                    progress.add(1, value.bytes().length);
                });
            }
        }

        private void checkRetained(Description document, long first) {
            if (first < document.first() || first > document.next()) {
                throw ClientException.otherState("'" + name + "' has no sequence " + first + ": it retains those from "
                        + document.first() + " up to, not including, " + document.next());
            }
        }
    }

    @Command(
            name = "tail",
            description = {
                "Prints the values of a document as they are appended, until the document is closed or deleted, or until"
                        + " Ctrl-C. Waits for a document that does not exist yet. Prints values in the same form as"
                        + " 'caravan get'.",
                "If the connection is lost, the command reconnects and continues with the next sequence, so that it"
                        + " neither skips nor repeats a value. In a cluster, it asks the node of --server for the"
                        + " document's leader."
            },
            footer = {
                "  caravan tail logs/today",
                "  caravan tail letters/1 --from 0 --output json",
                "  caravan tail logs/today --from now --count 1"
            })
    public static final class Tail extends ClientCommand implements ReadOnly {
        @Parameters(paramLabel = "NAME", description = "The document.")
        private String name;

        @Option(
                names = "--from",
                paramLabel = "SEQUENCE|now",
                defaultValue = "now",
                converter = Start.class,
                description = "First sequence to print, or now, which starts with the next value that is appended.")
        private OptionalLong from;

        @Option(names = "--count", paramLabel = "N", description = "Number of values after which the command ends.")
        private @Nullable Long count;

        @Mixin
        private ValuePrinter printer;

        /** Converts the first sequence to print; empty for {@code now}. */
        static final class Start implements CommandLine.ITypeConverter<OptionalLong> {
            @Override
            public OptionalLong convert(String text) {
                if (text.equals("now")) {
                    return OptionalLong.empty();
                }
                if (!text.matches("[0-9]{1,18}")) {
                    throw new CommandLine.TypeConversionException("'" + text + "' is neither a sequence nor now");
                }
                return OptionalLong.of(Long.parseLong(text));
            }
        }

        @Override
        protected void run(Output output) throws IOException {
            long most = atLeast(1, count, "--count", Long.MAX_VALUE);
            check(!printer.raw() || !json(), "--raw and --output json exclude each other");
            Follower follower = new Follower(this::connect, bytes(name), from, most, this::printMessage);
            runUntilSignal(follower::stop, () -> {
                follower.follow(value -> printer.print(value, json(), output), output::flush);
                output.flush();
            });
        }
    }

    @Command(
            name = "ls",
            description = "Prints the names of the documents that the user may read, in no particular order. In a"
                    + " cluster with several Raft groups, lists the documents of all groups. Documents that are created"
                    + " or deleted while the command runs may be missing.",
            footer = {"  caravan ls", "  caravan ls --match 'letters/*' --limit 20", "  caravan ls --output json"})
    public static final class ListDocuments extends ClientCommand implements ReadOnly {
        @Option(
                names = "--match",
                paramLabel = "GLOB",
                description =
                        "Only names that match this pattern: * stands for any characters, ? for one character, and"
                                + " [a-z] for one character of a range. Quote the pattern; otherwise, the shell expands it.")
        private @Nullable String glob;

        @Option(names = "--limit", paramLabel = "N", description = "Maximum number of names.")
        private @Nullable Long limit;

        private long left;

        @Override
        protected void run(Output output) throws IOException {
            left = atLeast(1, limit, "--limit", Long.MAX_VALUE);
            byte @Nullable [] pattern = glob == null ? null : bytes(glob);
            inEachGroup(leader -> print(leader, pattern, output));
        }

        private void print(ServerConnection leader, byte @Nullable [] pattern, Output output) throws IOException {
            Names names = Names.before();
            do {
                names = RespDocumentClient.scan(leader, names, pattern);
                for (byte[] name : names.names()) {
                    if (left-- > 0) {
                        print(name, output);
                    }
                }
            } while (!names.last() && left > 0);
        }

        private void print(byte[] name, Output output) throws IOException {
            if (json()) {
                output.object(Output.textOrBase64("name", "base64", name));
            } else {
                output.line(name);
            }
        }
    }

    @Command(
            name = "trim",
            description = "Trims the oldest values of a document, and prints the first sequence that it retains. The"
                    + " sequences of the other values do not change.",
            footer = {"  caravan trim letters/1 --to 1000", "  caravan trim logs/today --keep 100000"})
    public static final class Trim extends ClientCommand {
        @Parameters(paramLabel = "NAME", description = "The document.")
        private String name;

        @ArgGroup(multiplicity = "1")
        private Extent extent;

        /** The options that select the values to trim. */
        static final class Extent {
            @Option(
                    names = "--to",
                    paramLabel = "SEQUENCE",
                    description = "Trim the values before this sequence; all values, if it is after the last one.")
            private @Nullable Long to;

            @Option(names = "--keep", paramLabel = "N", description = "Trim all values except the newest N.")
            private @Nullable Long keep;
        }

        @Override
        protected void run(Output output) throws IOException {
            long to = atLeast(0, extent.to, "--to", 0);
            long keep = atLeast(0, extent.keep, "--keep", 0);
            try (RespDocumentClient documents = documents()) {
                long first = documents
                        .trim(bytes(name), extent.to != null ? to : allBut(keep, documents))
                        .orElseThrow(() -> ClientException.missing(name));
                output.print("first " + first, Map.of("first", first));
            }
        }

        private long allBut(long keep, RespDocumentClient documents) {
            Description document = documents.find(bytes(name));
            if (document == null) {
                throw ClientException.missing(name);
            }
            return Math.max(0, document.next() - keep);
        }
    }

    @Command(
            name = "rm",
            description = "Deletes documents with all their values, without confirmation, and prints the number of"
                    + " deleted documents. The server deletes all existing documents in one write, or none of them. If"
                    + " some documents do not exist, the command reports them and exits with 3.",
            footer = {"  caravan rm letters/1", "  caravan ls --match 'drafts/*' | xargs -d '\\n' caravan rm"})
    public static final class Remove extends ClientCommand {
        @Parameters(paramLabel = "NAME", arity = "1..*", description = "The documents.")
        private List<String> names;

        @Override
        protected void run(Output output) throws IOException {
            try (RespDocumentClient documents = documents()) {
                // The reply to a deletion does not count documents whose values have all been trimmed.
                List<String> missing = names.stream()
                        .distinct()
                        .filter(name -> documents.find(bytes(name)) == null)
                        .toList();
                long deleted = names.stream().distinct().count() - missing.size();
                if (deleted > 0) {
                    documents.delete(names.stream().map(ClientCommand::bytes).toList());
                }
                output.print("deleted " + deleted, Map.of("deleted", deleted));
                if (!missing.isEmpty()) {
                    throw ClientException.otherState("there is no document "
                            + missing.stream().map(name -> "'" + name + "'").collect(Collectors.joining(", ")));
                }
            }
        }
    }

    @Command(
            name = "stat",
            description = {
                "Prints statistics of a document: its sequences, the number and the size of its values, its content"
                        + " type, whether it is closed, and when it expires.",
                "Without NAME, prints the most important statistics of the server, with rates over one second: its"
                        + " store, documents and values, log, heap, disk, JVM heap, archive, and role in a cluster."
                        + " Statistics that the user may not see are omitted. As JSON, the statistics are an object with"
                        + " one field for each section, with all statistics."
            },
            footer = {"  caravan stat", "  caravan stat --all", "  caravan stat letters/1 --output json"})
    public static final class Stat extends ClientCommand implements ReadOnly {
        /** The time over which rates are measured. */
        private static final long RATE_MILLIS = 1_000;

        @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document.")
        private @Nullable String name;

        @Option(
                names = "--all",
                description = "Print all statistics of the server, section by section, as INFO returns them.")
        private boolean all;

        @Override
        protected void run(Output output) throws IOException {
            check(name == null || !all, "NAME and --all exclude each other");
            try (RespDocumentClient documents = documents()) {
                if (name == null) {
                    printServer(documents.connection(), output);
                } else {
                    printDocument(name, documents.info(bytes(name)), output);
                }
            }
        }

        private void printDocument(String wanted, @Nullable Map<String, @Nullable Object> info, Output output)
                throws IOException {
            if (info == null) {
                throw ClientException.missing(wanted);
            }
            String text = info.entrySet().stream()
                    .map(field -> field.getKey() + ": " + Objects.requireNonNullElse(field.getValue(), "none"))
                    .collect(Collectors.joining("\n"));
            output.print(text, Output.fields("name", wanted, info));
        }

        private void printServer(ServerConnection server, Output output) throws IOException {
            String status = server.text("INFO");
            if (json()) {
                output.object(ServerInfo.parse(status).fields());
            } else if (all) {
                for (String line : (Iterable<String>) status.lines()::iterator) {
                    output.line(line.startsWith("#") ? line : line.replaceFirst(":", ": "));
                }
            } else {
                printSummary(ServerInfo.parse(status), server, output);
            }
        }

        private static void printSummary(ServerInfo before, ServerConnection server, Output output) throws IOException {
            long startNanos = System.nanoTime();
            Retries.sleep(RATE_MILLIS);
            ServerInfo after = server.info();
            double seconds = (System.nanoTime() - startNanos) / 1e9;
            for (String line : new ServerSummary(after).lines(before, seconds)) {
                output.line(DocumentName.printable(line));
            }
        }
    }

    /** A mixin for commands that print values. */
    static final class ValuePrinter {
        @Option(names = "--raw", description = "Print only the bytes of the values, without line breaks.")
        private boolean raw;

        boolean raw() {
            return raw;
        }

        void print(Value value, boolean json, Output output) throws IOException {
            if (json) {
                output.object(Output.fields(
                        "sequence", value.sequence(), Output.textOrBase64("value", "base64", value.bytes())));
            } else if (raw) {
                output.bytes(value.bytes());
            } else {
                output.line(value.bytes());
            }
        }
    }
}
