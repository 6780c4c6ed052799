package io.caravan.server.cli.space;

import static io.caravan.server.cli.common.Figures.count;
import static io.caravan.server.cli.common.Figures.size;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.CliCommand.VersionProvider;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.HelpCommand;
import io.caravan.server.cli.common.Output;
import io.caravan.server.config.Quantities;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.SpaceSetting.Unit;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

@Command(
        name = "space",
        description = {
            "Settings for all documents whose names start with a prefix: maximum sizes, retention, quotas, rates,"
                    + " durability, and archive. A change applies to the next write. The store keeps the settings.",
            "If a name starts with several prefixes, only the settings of the longest one apply. 'caravan help space"
                    + " set' lists the settings."
        },
        subcommands = {
            SpaceCommand.SetSpace.class,
            SpaceCommand.ListSpaces.class,
            SpaceCommand.Remove.class,
            HelpCommand.class
        },
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class)
public final class SpaceCommand {
    /** Accepts only valid prefixes. */
    static final class PrefixConverter implements ITypeConverter<String> {
        @Override
        public String convert(String prefix) {
            try {
                Prefix.of(prefix.getBytes(UTF_8));
                return prefix;
            } catch (IllegalArgumentException invalid) {
                throw new TypeConversionException(String.valueOf(invalid.getMessage()));
            }
        }
    }

    @Command(
            name = "ls",
            description = "Lists the spaces in the order of their prefixes, or shows only the space PREFIX. A space has"
                    + " settings, the number and the size of its documents, and the numbers of writes and rejected"
                    + " writes since the server started. Requires the admin permission.",
            exitCodeList = {
                "0:success",
                "1:failure: no server, no permission",
                "2:usage error",
                "3:there is no such space"
            },
            footer = {"  caravan space ls", "  caravan space ls chat/", "  caravan space ls --json"})
    static final class ListSpaces extends ClientCommand implements ReadOnly {
        /** The width of the first column, which longer prefixes exceed. */
        private static final int SHORTEST = 6;

        private static final int LONGEST = 40;

        @Parameters(
                paramLabel = "PREFIX",
                converter = PrefixConverter.class,
                arity = "0..1",
                description = "Prefix of the space.")
        private @Nullable String prefix;

        @Override
        protected void run(Output output) throws IOException {
            try (ServerConnection connection = connect()) {
                if (prefix == null) {
                    List<?> reply = (List<?>) Objects.requireNonNull(connection.call("CARAVAN.SPACE", "LIST"));
                    print(reply.stream().map(Space::of).toList(), output);
                    return;
                }
                Object space = connection.call("CARAVAN.SPACE", "GET", prefix);
                if (space == null) {
                    throw ClientException.otherState("there is no space '" + prefix + "'");
                }
                Space.of(space).print(output);
            }
        }

        private void print(List<Space> spaces, Output output) throws IOException {
            int width = spaces.stream()
                    .mapToInt(space -> space.prefix().length())
                    .reduce(SHORTEST, (one, other) -> Math.min(LONGEST, Math.max(one, other)));
            String row = "%-" + width + "s %10s %10s %9s  %s";
            if (!json()) {
                output.line(String.format(Locale.ROOT, row, "prefix", "documents", "size", "rejected", "settings"));
            }
            for (Space space : spaces) {
                String line = String.format(
                        Locale.ROOT,
                        row,
                        space.prefix(),
                        space.figure("documents"),
                        size(space.figure("bytes")),
                        space.figure("rejected-sizes")
                                + space.figure("rejected-quotas")
                                + space.figure("rejected-rates"),
                        space.settings());
                output.print(line, space.fields());
            }
        }
    }

    @Command(
            name = "rm",
            description = "Removes a space, but none of its documents, to which the settings of the next shorter"
                    + " prefix then apply. In a cluster, applies to all Raft groups. Requires the admin permission.",
            exitCodeList = {
                "0:success",
                "1:failure: no server, no permission",
                "2:usage error",
                "3:there is no such space"
            },
            footer = {"  caravan space rm chat/", "  caravan space rm chat/ --json"})
    static final class Remove extends ClientCommand {
        @Parameters(paramLabel = "PREFIX", converter = PrefixConverter.class, description = "Prefix of the space.")
        private String prefix;

        @Override
        protected void run(Output output) throws IOException {
            List<Boolean> removed = new ArrayList<>();
            inEachGroup(leader -> removed.add(Long.valueOf(1).equals(leader.call("CARAVAN.SPACE", "REMOVE", prefix))));
            if (!removed.contains(true)) {
                throw ClientException.otherState("there is no space '" + prefix + "'");
            }
            output.print("space '" + DocumentName.printable(prefix) + "' is removed", Map.of("removed", prefix));
        }
    }

    @Command(
            name = "set",
            description = {
                "Creates a space for all documents whose names start with PREFIX, or changes the named settings of the"
                        + " space and keeps all others. Then prints the space. Requires the admin permission.",
                "  max-value-bytes    maximum size of one value",
                "  max-values         maximum number of values of one document",
                "  max-bytes          maximum size of all values of one document",
                "  retain-values      number of newest values that a document keeps: an append trims the oldest",
                "  retain-bytes       bytes of newest values that a document keeps; it always keeps the newest value",
                "  retain-age         time for which a document keeps a value; older values are trimmed within about a"
                        + " minute",
                "  quota-documents    maximum number of documents in the space",
                "  quota-bytes        maximum size of all values in the space",
                "  writes-per-second  maximum number of appends and creations, of all documents together",
                "  bytes-per-second   maximum bytes that are appended, of all documents together",
                "  durability         level that a write reaches before it is acknowledged, at most that of the server:"
                        + " memory, process (in the operating system), sync (on the disk), or replicated (in a"
                        + " cluster)",
                "  flush-delay        time for which a write may wait for others to share its fsync, up to 1m, instead"
                        + " of --flush-policy",
                "  timestamps         on: store the time of arrival with each value, which takes 8 more bytes",
                "  archive-after      maximum time until a write is archived, instead of --archive-after",
                "  archive-keep       number of newest generations of a document to keep, instead of --archive-keep",
                "  archive-keep-days  age in days of the generations that are also kept, instead of"
                        + " --archive-keep-days",
                "  archive-keep-daily number of days for which the newest generation of each day is also kept, instead"
                        + " of --archive-keep-daily",
                "A size may have a unit, such as 64KiB or 10GiB. A time must have a unit, such as 90s or 12h. 0 unsets"
                        + " a setting. A write that exceeds a limit is rejected and changes nothing; existing documents"
                        + " stay. In a cluster, the command applies to all Raft groups."
            },
            footer = {
                "  caravan space set chat/ retain-values=1000 max-value-bytes=64KiB",
                "  caravan space set tenant-7/ quota-bytes=10GiB quota-documents=50000 writes-per-second=200",
                "  caravan space set tenant-7/ writes-per-second=0",
                "  caravan space set presence/ durability=memory",
                "  caravan space set metrics/ flush-delay=50ms",
                "  caravan space set chat/ timestamps=on",
                "  caravan space set contracts/ archive-after=1m"
            })
    static final class SetSpace extends ClientCommand {
        @Parameters(
                index = "0",
                paramLabel = "PREFIX",
                converter = PrefixConverter.class,
                description = "Prefix of the names, 1 to 256 bytes.")
        private String prefix;

        @Parameters(
                index = "1..*",
                arity = "1..*",
                paramLabel = "SETTING=VALUE",
                description = "Settings with their new values.")
        private Map<String, String> given = new LinkedHashMap<>();

        @Override
        protected void run(Output output) throws IOException {
            List<String> settings = new ArrayList<>();
            given.forEach((key, value) -> settings.addAll(List.of(key, number(key, value))));
            List<Space> set = new ArrayList<>();
            inEachGroup(leader -> set.add(new Space(leader.callLongRunning("CARAVAN.SPACE", "SET", prefix, settings))));
            set.get(0).print(output);
        }

        /** Converts a value with a unit to the number that the server expects. */
        private String number(String key, String value) {
            try {
                SpaceSetting setting = SpaceSetting.of(key);
                Unit unit = setting.unit();
                if (unit == Unit.BYTES) {
                    return String.valueOf(new Quantities.Bytes().convert(value));
                }
                if ((unit == Unit.SECONDS || unit == Unit.MILLISECONDS) && !value.equals("0")) {
                    Duration time = new Quantities.Time().convert(value);
                    check(
                            unit == Unit.MILLISECONDS || time.toMillisPart() == 0,
                            key + ": '" + value + "' is not in whole seconds");
                    return String.valueOf(unit == Unit.SECONDS ? time.toSeconds() : time.toMillis());
                }
                if (unit == Unit.WORD) {
                    setting.number(value);
                } else {
                    check(value.matches("[0-9]{1,16}"), key + ": '" + value + "' is not a number");
                }
                return value;
            } catch (IllegalArgumentException | TypeConversionException wrong) {
                throw misused(key + ": " + wrong.getMessage());
            }
        }
    }

    /**
     * The server's description of a space.
     *
     * @param fields the prefix, the configured settings, and statistics
     */
    private record Space(Map<String, @Nullable Object> fields) {
        static Space of(@Nullable Object reply) {
            return new Space(Objects.requireNonNull(ServerConnection.fields(reply)));
        }

        String prefix() {
            return DocumentName.printable(String.valueOf(fields.get("prefix")));
        }

        long figure(String name) {
            return fields.get(name) instanceof Long number ? number : 0;
        }

        private Stream<SpaceSetting> configured() {
            return Stream.of(SpaceSetting.values()).filter(setting -> fields.get(setting.key()) != null);
        }

        /** Formats the settings as arguments of {@code set}. */
        String settings() {
            return configured()
                    .map(setting -> setting.key() + "=" + fields.get(setting.key()))
                    .collect(Collectors.joining(" "));
        }

        /** Prints the space as lines of text or as a JSON object. */
        void print(Output output) throws IOException {
            String settings = configured()
                    .map(setting -> String.format(
                            Locale.ROOT, "  %-18s %s%s\n", setting.key(), fields.get(setting.key()), note(setting)))
                    .collect(Collectors.joining());
            output.print(
                    "space '" + prefix() + "': " + count(figure("documents"), "document") + ", "
                            + size(figure("bytes")) + "\n" + settings + "since the server started: "
                            + count(figure("writes"), "write") + " of " + size(figure("written-bytes")) + ", "
                            + count(figure("retention-trimmed-values"), "value") + " retired; rejected for a size "
                            + figure("rejected-sizes") + ", a quota " + figure("rejected-quotas") + ", a rate "
                            + figure("rejected-rates"),
                    fields);
        }

        /** Explains the value of a setting. */
        private String note(SpaceSetting setting) {
            long value = figure(setting.key());
            Object effective = fields.get("effective-durability");
            return switch (setting.unit()) {
                case BYTES -> "  (" + size(value) + ")";
                case MILLISECONDS -> "  (ms)";
                case SECONDS -> "  (" + Figures.age(Duration.ofSeconds(value)) + ")";
                default ->
                    setting == SpaceSetting.DURABILITY && !Objects.equals(effective, fields.get(setting.key()))
                            ? "  (here " + effective + ", the level of the server)"
                            : "";
            };
        }
    }
}
