package io.caravan.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Results.Spread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Presents results as tables for people and as JSON for programs. */
public final class Report {
    private final String name;
    private final Map<String, String> facts;
    private final List<Table> tables;
    private final List<Picture> pictures;

    /**
     * Creates a report of the results so far.
     *
     * @param name the name of the files
     * @param facts facts about the machine
     * @param measures the source of the tables and pictures
     */
    public Report(String name, Map<String, String> facts, List<Measure> measures) {
        this.name = name;
        this.facts = facts;
        this.tables = measures.stream().map(Measure::table).toList();
        this.pictures = measures.stream()
                .flatMap(measure -> measure.pictures().stream())
                .toList();
    }

    /**
     * Writes the report as a {@code .md} and a {@code .json} file, and the pictures as {@code .png} and {@code .svg}
     * files.
     */
    public void writeTo(Path directory) throws IOException {
        Files.createDirectories(directory);
        for (Picture picture : pictures) {
            picture.writeTo(directory, prefix());
        }
        Files.writeString(directory.resolve(name + ".md"), "# " + name + "\n\n" + this + pictureLinks());
        new ObjectMapper()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .writeValue(directory.resolve(name + ".json").toFile(), json());
    }

    private String prefix() {
        return name + "-";
    }

    private String pictureLinks() {
        StringBuilder text = new StringBuilder();
        for (Picture picture : pictures) {
            text.append("\n![").append(picture.title()).append("](").append(prefix());
            text.append(picture.name())
                    .append(".png)\n\n")
                    .append(picture.caption())
                    .append('\n');
        }
        return text.toString();
    }

    /** Returns the report as Markdown that is also readable as plain text. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        facts.forEach((name, value) ->
                text.append("- ").append(name).append(": ").append(value).append('\n'));
        text.append("\nMedians of all runs, with the minimum and maximum where they differ.\n");
        tables.forEach(table -> appendTable(text, table));
        return text.toString();
    }

    private static void appendTable(StringBuilder text, Table table) {
        if (!table.title().isEmpty()) {
            text.append("\n## ").append(table.title()).append('\n');
        }
        if (!table.notes().isEmpty()) {
            text.append('\n').append(table.notes()).append('\n');
        }
        text.append('\n').append(cells(table));
    }

    private static String cells(Table table) {
        Results results = table.results();
        List<List<String>> lines = new ArrayList<>();
        List<String> titles = new ArrayList<>(List.of("workload", "system", "durability"));
        List<Figure> figures = results.figures();
        figures.forEach(figure -> titles.add(figure.title()));
        boolean remarked = !table.remarks().isEmpty();
        if (remarked) {
            titles.add("remarks");
        }
        lines.add(titles);
        for (Row row : results.rows()) {
            List<String> line = new ArrayList<>(List.of(row.workload(), row.system(), row.durability()));
            Map<Figure, Spread> spreads = results.spreads(row);
            figures.forEach(figure -> line.add(spreads.containsKey(figure) ? cell(figure, spreads.get(figure)) : ""));
            if (remarked) {
                line.add(table.remarks().getOrDefault(row, ""));
            }
            lines.add(line);
        }
        return aligned(lines);
    }

    private static String cell(Figure figure, Spread spread) {
        String min = figure.text(spread.min());
        String max = figure.text(spread.max());
        String median = figure.text(spread.median());
        return min.equals(max) ? median : median + " (" + min + " to " + max + ")";
    }

    private static String aligned(List<List<String>> lines) {
        int[] widths = new int[lines.get(0).size()];
        for (List<String> line : lines) {
            for (int column = 0; column < widths.length; column++) {
                widths[column] = Math.max(widths[column], line.get(column).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < lines.size(); i++) {
            appendLine(text, lines.get(i), widths, ' ');
            if (i == 0) {
                appendLine(text, lines.get(0).stream().map(title -> "").toList(), widths, '-');
            }
        }
        return text.toString();
    }

    private static void appendLine(StringBuilder text, List<String> cells, int[] widths, char filler) {
        for (int column = 0; column < widths.length; column++) {
            String cell = cells.get(column);
            text.append("| ").append(cell);
            text.append(String.valueOf(filler).repeat(widths[column] - cell.length()))
                    .append(' ');
        }
        text.append("|\n");
    }

    private ObjectNode json() {
        ObjectNode root = new ObjectMapper().createObjectNode();
        ObjectNode machine = root.putObject("machine");
        facts.forEach(machine::put);
        ArrayNode heads = root.putArray("tables");
        tables.forEach(table -> heads.addObject().put("title", table.title()).put("notes", table.notes()));
        ArrayNode rows = root.putArray("rows");
        tables.forEach(table -> addRows(rows, table));
        ArrayNode drawn = root.putArray("pictures");
        pictures.forEach(picture -> drawn.addObject()
                .put("file", prefix() + picture.name())
                .put("title", picture.title())
                .put("caption", picture.caption()));
        return root;
    }

    private static void addRows(ArrayNode rows, Table table) {
        Results results = table.results();
        for (Row row : results.rows()) {
            ObjectNode node = rows.addObject()
                    .put("table", table.title())
                    .put("workload", row.workload())
                    .put("system", row.system())
                    .put("durability", row.durability());
            if (table.remarks().containsKey(row)) {
                node.put("remark", table.remarks().get(row));
            }
            ObjectNode figures = node.putObject("figures");
            results.spreads(row).forEach((figure, spread) -> addSpread(figures, figure, spread));
        }
    }

    private static void addSpread(ObjectNode figures, Figure figure, Spread spread) {
        ObjectNode node = figures.putObject(figure.title())
                .put("format", figure.format())
                .put("min", spread.min())
                .put("median", spread.median())
                .put("max", spread.max());
        ArrayNode runs = node.putArray("runs");
        spread.runs().forEach(runs::add);
    }
}
