package io.caravan.server.cli.support;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.cli.serve.ServeCommand;
import io.caravan.server.config.Setting;
import io.caravan.server.config.Settings;
import io.caravan.server.metrics.Statistic;
import io.caravan.server.metrics.Statistics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** Discloses only listed fields, in the form that the list requires, such as those of a server's responses. */
record AllowList(Map<String, Predicate<String>> fields) {
    static final String HIDDEN = "(hidden)";

    static final Predicate<String> NUMBER = matching("-?[0-9]{1,20}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?");
    /** Accepts a word in the form that the program uses for states and kinds. */
    static final Predicate<String> WORD = matching("[a-z][a-z_-]{0,23}|");

    static final Predicate<String> VERSION = matching("[0-9]{1,4}[0-9a-zA-Z.+-]{0,40}|unpackaged");
    static final Predicate<String> MOMENT = matching("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,18}(Z|[+-][0-9:]{5})");

    /** The sections of {@code INFO} that may be disclosed. */
    static final Set<String> SECTIONS = Set.of(
            "server", "clients", "stats", "persistence", "archive", "spaces", "replication", "cluster", "keyspace");

    /** Discloses only whether the field is set. */
    private static final Predicate<String> WHETHER = oneOf("-");

    private static final Predicate<String> ARCHIVE_STATE =
            Stream.concat(Stream.of("none"), Stream.of(ArchiveState.values()).map(ArchiveState::label))
                    .collect(Collectors.toUnmodifiableSet())::contains;

    /** The fields of {@code INFO}, except messages, which may name documents, and the location of the archive. */
    static final AllowList INFO = of(
            numbersOfInfo() + " uptime_in_seconds max_value_bytes http_port event_loops process_id connected_clients"
                    + " memory_used_bytes memory_max_bytes loading archive_last_error_ms store_incomplete"
                    + " backup_in_progress backup_done_bytes backup_total_bytes connected_slaves cluster_enabled"
                    + " cluster_drained cluster_since_seconds spaces spaces_less_durable",
            Map.ofEntries(
                    Map.entry("redis_version", VERSION),
                    Map.entry("caravan_version", VERSION),
                    Map.entry("java_version", VERSION),
                    Map.entry("run_id", matching("[0-9a-f]{16}")),
                    Map.entry("redis_mode", oneOf("standalone", "cluster")),
                    Map.entry("multiplexing_api", oneOf("nio", "epoll", "io_uring")),
                    Map.entry("tls", oneOf("yes", "no")),
                    Map.entry("durability", oneOf("sync", "process", "memory")),
                    Map.entry("store_state", oneOf("ok", "full", "failed")),
                    Map.entry("archive_state", WORD),
                    Map.entry("archive_last_error_kind", WORD),
                    Map.entry("cluster_slots", matching("[0-9]{1,5}-[0-9]{1,5}")),
                    Map.entry("cluster_role", oneOf("leader", "follower"))));

    /** Fields of the {@code /readyz} response; the reason is disclosed as a word, without its message. */
    static final AllowList READINESS = of(
            "lagSeconds overdueSeconds backlog",
            Map.of(
                    "status", matching("ready|[0-9]{3}"),
                    "code", oneOf("draining", "recovering", "no_leader", "out_of_space", "store_failed"),
                    "archive", WHETHER,
                    "state", ARCHIVE_STATE,
                    "kind", WORD,
                    "lastSuccess", MOMENT,
                    "lastError", WHETHER,
                    "at", MOMENT));

    /** The layout of the store on disk, from {@code /v1/store}. */
    static final AllowList LAYOUT = of(
            "shard shards log heap segmentBytes firstSegment currentSegment lastSegment replayBytes"
                    + " checkpointAtBytes survivorBytes number totalBytes freeBytes holes largestHoleBytes pinnedBytes"
                    + " usedBytes pinsComplete",
            Map.of());

    private static final Predicate<String> SHORT =
            matching("[0-9]{1,12}( ?[A-Za-z]{1,3})?|auto|off|true|false|sync|process|none|immediate|adaptive|nio|epoll"
                    + "|io_uring|leader|linearizable|text|json|error|warn|info|debug|trace|-");

    private static final Predicate<String> ADDRESS =
            matching("[A-Za-z0-9_.-]{1,100}:[0-9]{1,5}|\\[[0-9a-fA-F:.%]{2,45}]:[0-9]{1,5}");
    /** Accepts a path or URL without the characters that introduce a user, a password, or parameters. */
    private static final Predicate<String> PLACE = matching("[^\\p{Cntrl}@?#&]{1,1000}");

    private static final Predicate<String> REGION = matching("[a-z]{2}(-[a-z]{2,10}){1,2}-[0-9]|-");
    private static final Predicate<String> SOURCE =
            matching("default|command line|environment CARAVAN_[A-Z0-9_]{1,40}|file [^\\p{Cntrl}]{1,1000}");

    /** The settings. A secret is not disclosed even if it was entered instead of the path of its file. */
    static final AllowList SETTINGS = settings();

    AllowList {
        fields = Map.copyOf(fields);
    }

    /** Creates a list of numeric fields, whose names are separated by spaces, and of fields with other forms. */
    static AllowList of(String numbers, Map<String, Predicate<String>> others) {
        Map<String, Predicate<String>> fields = new HashMap<>(others);
        List.of(numbers.split(" ")).forEach(name -> fields.put(name, NUMBER));
        return new AllowList(fields);
    }

    private static String numbersOfInfo() {
        return Statistics.SECTIONS.values().stream()
                .<Statistic<?>>flatMap(List::stream)
                .map(Statistic::field)
                .flatMap(Stream::ofNullable)
                .map(Statistic.Field::name)
                .collect(Collectors.joining(" "));
    }

    static Predicate<String> matching(String pattern) {
        return Pattern.compile(pattern).asMatchPredicate();
    }

    static Predicate<String> oneOf(String... words) {
        return List.of(words)::contains;
    }

    /** Returns the value, or {@link #HIDDEN} if its form is wrong, or null if the field is not on the list. */
    @Nullable
    String value(String name, String value) {
        Predicate<String> form = fields.get(name);
        if (form == null) {
            return null;
        }
        return form.test(value) ? value : HIDDEN;
    }

    /** Returns the permitted fields and their values. */
    Map<String, String> values(Map<String, String> all) {
        Map<String, String> shown = new LinkedHashMap<>();
        all.forEach((name, value) -> {
            String allowed = value(name, value);
            if (allowed != null) {
                shown.put(name, allowed);
            }
        });
        return shown;
    }

    /** Returns the permitted contents of a JSON value: the listed fields of objects, and the elements of arrays. */
    @Nullable
    Object values(JsonNode node) {
        if (node.isArray()) {
            List<Object> elements = new ArrayList<>();
            node.forEach(element -> {
                Object allowed = element.isContainerNode() ? values(element) : HIDDEN;
                elements.add(allowed == null ? HIDDEN : allowed);
            });
            return elements;
        }
        Map<String, Object> shown = new LinkedHashMap<>();
        node.fields().forEachRemaining(field -> {
            Object allowed = fields.containsKey(field.getKey()) ? allowed(field.getKey(), field.getValue()) : null;
            if (allowed != null) {
                shown.put(field.getKey(), allowed);
            }
        });
        return shown;
    }

    private @Nullable Object allowed(String name, JsonNode value) {
        if (value.isContainerNode()) {
            return values(value);
        }
        if (value.isBoolean() || value.isNull()) {
            return value.isNull() ? null : value.booleanValue();
        }
        String shown = value(name, value.asText());
        return value.isNumber() && value.asText().equals(shown) ? value.numberValue() : shown;
    }

    /** Returns the settings of {@code caravan serve}, with the form that the label of a setting implies. */
    private static AllowList settings() {
        Map<String, Predicate<String>> forms = new HashMap<>(Map.of("password", WHETHER));
        new CommandLine(new ServeCommand(new Settings(Map.of())))
                .getCommandSpec().options().stream()
                        .filter(option -> !Settings.notASetting(option))
                        .forEach(option -> forms.put(Settings.fileName(option), form(option.paramLabel())));
        forms.put("cluster-file", PLACE);
        return new AllowList(forms);
    }

    private static Predicate<String> form(String label) {
        return switch (label) {
            case "BOOL", "COUNT", "DAYS", "FORMAT", "KIND", "LEVEL", "N", "POLICY", "SIZE", "TIME", "WHO" -> SHORT;
            case "HOST:PORT" -> ADDRESS;
            case "DIR", "URL" -> PLACE;
            case "REGION" -> REGION;
            default -> WHETHER;
        };
    }

    /** Returns a setting as a table row, with any secret hidden; empty if the setting's name is unknown. */
    static Optional<Setting> setting(String name, String value, String source) {
        String shown = SETTINGS.value(name, value);
        if (shown == null) {
            return Optional.empty();
        }
        return Optional.of(new Setting(name, shown, SOURCE.test(source) ? source : HIDDEN));
    }
}
