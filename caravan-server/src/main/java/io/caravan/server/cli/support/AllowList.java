package io.caravan.server.cli.support;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.caravan.server.cli.serve.ServeCommand;
import io.caravan.server.config.Setting;
import io.caravan.server.config.Settings;
import io.caravan.server.metrics.Statistic;
import io.caravan.server.metrics.Statistics;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;

/** Discloses only listed fields, and only values in the form that the list requires. */
final class AllowList {
    static final String HIDDEN = "(hidden)";

    private static final Predicate<String> NOTHING = value -> false;
    private static final Predicate<String> NUMBER = matching("-?[0-9]{1,20}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?");
    /** A state or kind, a version, a time, the id of a run, or slots. */
    private static final Predicate<String> WORD =
            matching("|[a-z][a-z_-]{0,23}|[0-9]{1,4}[0-9a-zA-Z.+-]{0,40}|[0-9a-f]{16}"
                    + "|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,18}(Z|[+-][0-9:]{5})");

    /** The forms of the fields of responses. Objects have the form of a number, because only their fields are shown. */
    private static final Map<String, Predicate<String>> FIELDS = new HashMap<>();

    static {
        Statistics.SECTIONS.values().stream()
                .<Statistic<?>>flatMap(List::stream)
                .flatMap(statistic -> Stream.ofNullable(statistic.field()))
                .forEach(field -> FIELDS.put(field.name(), NUMBER));
        // INFO, without messages, which may name documents, and the location of the archive.
        add(NUMBER, "server clients stats persistence archive spaces replication cluster keyspace");
        add(NUMBER, "uptime_in_seconds max_value_bytes http_port event_loops process_id connected_clients loading");
        add(NUMBER, "memory_used_bytes memory_max_bytes archive_last_error_ms store_incomplete backup_in_progress");
        add(NUMBER, "backup_done_bytes backup_total_bytes connected_slaves cluster_enabled cluster_drained");
        add(NUMBER, "cluster_since_seconds spaces_less_durable");
        add(WORD, "redis_version caravan_version java_version run_id redis_mode multiplexing_api tls durability");
        add(WORD, "store_state archive_state archive_last_error_kind cluster_slots cluster_role");
        // The readiness, without the message that gives the reason.
        add(NUMBER, "lagSeconds overdueSeconds backlog lastError");
        add(WORD, "status code state kind lastSuccess at");
        // The layout of the store.
        add(NUMBER, "shard shards log heap segmentBytes firstSegment currentSegment lastSegment replayBytes");
        add(NUMBER, "checkpointAtBytes survivorBytes number totalBytes freeBytes holes largestHoleBytes pinnedBytes");
        add(NUMBER, "usedBytes pinsComplete");
    }

    private static final Predicate<String> WHETHER_SET = "-"::equals;
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

    /** The forms of the settings. A secret is not disclosed even if it was entered instead of the path of its file. */
    private static final Map<String, Predicate<String>> SETTINGS = new HashMap<>();

    static {
        new CommandLine(new ServeCommand(new Settings(Map.of())))
                .getCommandSpec().options().stream()
                        .filter(option -> !Settings.notASetting(option))
                        .forEach(option -> SETTINGS.put(Settings.fileName(option), form(option.paramLabel())));
        SETTINGS.put("cluster-file", PLACE);
        SETTINGS.put("password", WHETHER_SET);
    }

    private AllowList() {}

    private static void add(Predicate<String> form, String names) {
        List.of(names.split(" ")).forEach(name -> FIELDS.put(name, form));
    }

    static Predicate<String> matching(String pattern) {
        return Pattern.compile(pattern).asMatchPredicate();
    }

    private static Predicate<String> form(String label) {
        return switch (label) {
            case "BOOL", "COUNT", "DAYS", "FORMAT", "KIND", "LEVEL", "N", "POLICY", "SIZE", "TIME", "WHO" -> SHORT;
            case "HOST:PORT" -> ADDRESS;
            case "DIR", "URL" -> PLACE;
            case "REGION" -> REGION;
            default -> WHETHER_SET;
        };
    }

    /** Reduces a response to what may be disclosed: the listed fields of objects, and the objects in arrays. */
    static JsonNode shown(JsonNode response) {
        return shown(response, NOTHING);
    }

    private static JsonNode shown(JsonNode node, Predicate<String> form) {
        if (node instanceof ObjectNode object) {
            object.retain(FIELDS.keySet());
            object.fields()
                    .forEachRemaining(field ->
                            field.setValue(shown(field.getValue(), FIELDS.getOrDefault(field.getKey(), NOTHING))));
            return object;
        }
        if (node instanceof ArrayNode array) {
            for (int i = 0; i < array.size(); i++) {
                array.set(i, shown(array.get(i), NOTHING));
            }
            return array;
        }
        return node.isBoolean() || node.isNull() || form.test(node.asText()) ? node : TextNode.valueOf(HIDDEN);
    }

    /** Returns a setting as a table row, with any secret hidden; empty if the setting's name is unknown. */
    static Optional<Setting> setting(String name, String value, String source) {
        return Optional.ofNullable(SETTINGS.get(name))
                .map(form ->
                        new Setting(name, form.test(value) ? value : HIDDEN, SOURCE.test(source) ? source : HIDDEN));
    }
}
