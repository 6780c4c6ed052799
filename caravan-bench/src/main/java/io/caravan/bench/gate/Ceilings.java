package io.caravan.bench.gate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.EnumMap;
import java.util.Map;

/** Reads the upper limit of each ratio from {@code ceilings.json}. */
final class Ceilings {
    private static final String FILE = "ceilings.json";

    private Ceilings() {}

    /**
     * The ceiling for one ratio.
     *
     * @param meaning the ratio's numerator and denominator
     * @param most the upper limit on the ratio's median
     * @param advice where to look for the cause if the median is higher
     */
    record Ceiling(String meaning, double most, String advice) {}

    /**
     * Reads all ceilings.
     *
     * @param quick whether to use the ceilings of a quick run, where they differ
     * @throws IOException if the file has no ceiling for one of the ratios
     */
    static Map<Ratio, Ceiling> read(boolean quick) throws IOException {
        try (InputStream file = Ceilings.class.getResourceAsStream(FILE)) {
            if (file == null) {
                throw new IOException(FILE + " is missing next to " + Ceilings.class.getName());
            }
            JsonNode all = new ObjectMapper().readTree(file);
            Map<Ratio, Ceiling> ceilings = new EnumMap<>(Ratio.class);
            for (Ratio ratio : Ratio.values()) {
                ceilings.put(ratio, ceiling(all.path(ratio.title()), ratio, quick));
            }
            return ceilings;
        }
    }

    private static Ceiling ceiling(JsonNode node, Ratio ratio, boolean quick) throws IOException {
        JsonNode most = node.path("ceiling");
        if (!most.isNumber()) {
            throw new IOException(FILE + " has no ceiling for " + ratio.title() + "; add one");
        }
        double value =
                quick && node.has("quickCeiling") ? node.path("quickCeiling").asDouble() : most.asDouble();
        return new Ceiling(
                node.path("meaning").asText(), value, node.path("advice").asText());
    }
}
