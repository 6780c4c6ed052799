package io.caravan.server.cli.space;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.SpaceSetting.Unit;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The server's description of a space.
 *
 * @param fields the prefix, the configured settings, and statistics
 */
record SpaceFields(Map<String, @Nullable Object> fields) {
    String prefix() {
        return DocumentName.printable(String.valueOf(fields.get("prefix")));
    }

    long figure(String name) {
        return fields.get(name) instanceof Long number ? number : 0;
    }

    /** Returns the number of writes that were rejected for any reason. */
    long rejected() {
        return figure("rejected-sizes") + figure("rejected-quotas") + figure("rejected-rates");
    }

    /** Formats the settings as arguments of {@code set}. */
    String settings() {
        return Arrays.stream(SpaceSetting.values())
                .filter(setting -> fields.get(setting.key()) != null)
                .map(setting -> setting.key() + "=" + fields.get(setting.key()))
                .collect(Collectors.joining(" "));
    }

    /** Prints the space as lines of text or as a JSON object. */
    void print(Output output, boolean json) throws IOException {
        if (json) {
            output.object(fields);
            return;
        }
        output.line("space " + prefix() + ": " + Figures.count(figure("documents"), "document") + ", "
                + Figures.size(figure("bytes")));
        for (SpaceSetting setting : SpaceSetting.values()) {
            Object value = fields.get(setting.key());
            if (value != null) {
                output.line(String.format(Locale.ROOT, "  %-18s %s%s", setting.key(), value, note(setting)));
            }
        }
        output.line("since the server started: " + Figures.count(figure("writes"), "write") + " of "
                + Figures.size(figure("written-bytes")) + ", "
                + Figures.count(figure("retention-trimmed-values"), "value")
                + " retired; rejected for a size " + figure("rejected-sizes") + ", a quota " + figure("rejected-quotas")
                + ", a rate " + figure("rejected-rates"));
    }

    /** Returns an explanation of a setting's value. */
    private String note(SpaceSetting setting) {
        if (setting.unit() == Unit.BYTES) {
            return "  (" + Figures.size(figure(setting.key())) + ")";
        }
        if (setting.unit() == Unit.MILLISECONDS) {
            return "  (ms)";
        }
        if (setting.unit() == Unit.SECONDS) {
            return "  (" + Figures.age(Duration.ofSeconds(figure(setting.key()))) + ")";
        }
        Object effective = fields.get("effective-durability");
        return setting == SpaceSetting.DURABILITY && !Objects.equals(effective, fields.get(setting.key()))
                ? "  (here " + effective + ", the level of the server)"
                : "";
    }
}
