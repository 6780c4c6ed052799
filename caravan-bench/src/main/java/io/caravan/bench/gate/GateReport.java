package io.caravan.bench.gate;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Reports the verdicts as text for people and as JSON for programs. */
final class GateReport {
    private static final String LINE = "%-20s %10s %10s %10s %10s  %-4s %s%n";

    private final Map<String, String> facts;
    private final List<Verdict> verdicts;

    /** Creates a report of these verdicts, with facts about the machine. */
    GateReport(Map<String, String> facts, List<Verdict> verdicts) {
        this.facts = facts;
        this.verdicts = verdicts;
    }

    /** Writes {@code gate.json}. */
    void writeTo(Path directory) throws IOException {
        Files.createDirectories(directory);
        new ObjectMapper()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .writeValue(directory.resolve("gate.json").toFile(), json());
    }

    private ObjectNode json() {
        ObjectNode root = new ObjectMapper().createObjectNode();
        ObjectNode machine = root.putObject("machine");
        facts.forEach(machine::put);
        ArrayNode ratios = root.putArray("ratios");
        for (Verdict verdict : verdicts) {
            ObjectNode node = ratios.addObject()
                    .put("ratio", verdict.ratio().title())
                    .put("meaning", verdict.ceiling().meaning())
                    .put("min", verdict.min())
                    .put("median", verdict.median())
                    .put("max", verdict.max())
                    .put("ceiling", verdict.ceiling().most())
                    .put("over", verdict.over());
            verdict.rounds().forEach(node.putArray("rounds")::add);
        }
        return root;
    }

    /** Returns a table, followed by advice on ratios that exceed their ceilings. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(String.format(Locale.ROOT, LINE, "ratio", "median", "min", "max", "ceiling", "", "what it is"));
        for (Verdict verdict : verdicts) {
            text.append(String.format(
                    Locale.ROOT,
                    LINE,
                    verdict.ratio().title(),
                    number(verdict.median()),
                    number(verdict.min()),
                    number(verdict.max()),
                    number(verdict.ceiling().most()),
                    verdict.over() ? "OVER" : "ok",
                    verdict.ceiling().meaning()));
        }
        verdicts.stream()
                .filter(Verdict::over)
                .forEach(verdict -> text.append('\n')
                        .append(verdict.ratio().title())
                        .append(" is over its ceiling. ")
                        .append(verdict.ceiling().advice())
                        .append('\n'));
        return text.toString();
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%,.2f", value);
    }
}
