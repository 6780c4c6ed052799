package io.caravan.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * An HTML page that presents all results in a directory: the pictures, tables, and machine description of each suite.
 * The page is self-contained and needs no network.
 */
public final class ReportPage {
    /**
     * The names of the suites of {@code scripts/bench all}, which are also the names of their commands, in the order in
     * which they run and are reported.
     */
    public static final List<String> SUITES = List.of("engine", "shards", "service", "cluster", "published");

    private static final String JSON = ".json";
    private static final String REMARK = "remark";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final StringBuilder html = new StringBuilder();
    private final Path directory;

    private ReportPage(Path directory) {
        this.directory = directory;
    }

    /** Writes {@code report.html} from the reports in the directory. */
    public static void write(Path directory) throws IOException {
        Files.writeString(directory.resolve("report.html"), new ReportPage(directory).page());
    }

    private String page() throws IOException {
        Map<String, JsonNode> reports = reports();
        html.append(template("report-head.html"));
        html.append("<nav>");
        reports.keySet().forEach(name -> tag("a", " href=\"#" + name + "\"", name));
        html.append("</nav>\n");
        for (Map.Entry<String, JsonNode> report : reports.entrySet()) {
            addReport(report.getKey(), report.getValue());
        }
        return html.append("</body></html>\n").toString();
    }

    /** Returns the reports in the order of the suites; reports of other commands come last. */
    private Map<String, JsonNode> reports() throws IOException {
        List<String> names = new ArrayList<>(SUITES);
        try (Stream<Path> files = Files.list(directory)) {
            files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(JSON))
                    .map(file -> file.substring(0, file.length() - JSON.length()))
                    .filter(name -> !SUITES.contains(name))
                    .sorted()
                    .forEach(names::add);
        }
        Map<String, JsonNode> reports = new LinkedHashMap<>();
        for (String name : names) {
            Path file = directory.resolve(name + JSON);
            if (Files.exists(file)) {
                JsonNode report = MAPPER.readTree(file.toFile());
                if (report.has("machine") && report.has("tables")) {
                    reports.put(name, report);
                }
            }
        }
        return reports;
    }

    private void addReport(String name, JsonNode report) throws IOException {
        html.append("<section id=\"").append(name).append("\">\n");
        tag("h2", "", name);
        for (JsonNode picture : report.path("pictures")) {
            addPicture(picture);
        }
        for (JsonNode table : report.path("tables")) {
            addTable(table, report.path("rows"));
        }
        html.append("<details><summary>the machine</summary><dl>");
        report.path("machine").properties().forEach(fact -> {
            tag("dt", "", fact.getKey());
            tag("dd", "", fact.getValue().asText());
        });
        html.append("</dl></details>\n</section>\n");
    }

    private void addPicture(JsonNode picture) throws IOException {
        // The PNG is a tenth of the size of the SVG, in which each dash of a grid line is a path.
        byte[] png = Files.readAllBytes(directory.resolve(picture.path("file").asText() + ".png"));
        html.append("<figure><img alt=\"").append(escaped(picture.path("title").asText()));
        html.append("\" src=\"data:image/png;base64,")
                .append(Base64.getEncoder().encodeToString(png))
                .append("\">");
        tag("figcaption", "", picture.path("caption").asText());
        html.append("</figure>\n");
    }

    private void addTable(JsonNode table, JsonNode allRows) {
        String title = table.path("title").asText();
        List<JsonNode> rows = new ArrayList<>();
        Map<String, String> formats = new LinkedHashMap<>();
        for (JsonNode row : allRows) {
            if (row.path("table").asText().equals(title)) {
                rows.add(row);
                row.path("figures")
                        .properties()
                        .forEach(figure -> formats.putIfAbsent(
                                figure.getKey(),
                                figure.getValue().path("format").asText()));
            }
        }
        tag("h3", "", title);
        tag("p", "", table.path("notes").asText());
        html.append("<div class=\"table\"><table><thead><tr>");
        Stream.concat(Stream.of("workload", "system", "durability"), formats.keySet().stream())
                .forEach(column -> tag("th", "", column));
        boolean remarked = rows.stream().anyMatch(row -> row.has(REMARK));
        if (remarked) {
            tag("th", "", "remarks");
        }
        html.append("</tr></thead><tbody>\n");
        rows.forEach(row -> addRow(row, formats, remarked));
        html.append("</tbody></table></div>\n");
    }

    private void addRow(JsonNode row, Map<String, String> formats, boolean remarked) {
        String system = row.path("system").asText();
        boolean machine = system.startsWith(Charts.MACHINE) || system.equals("by hand");
        String kind = machine ? "machine" : system.startsWith("Caravan") ? "caravan" : "peer";
        html.append("<tr class=\"").append(kind).append("\">");
        tag("td", "", row.path("workload").asText());
        tag("td", "", system);
        tag("td", "", row.path("durability").asText());
        formats.forEach((title, format) ->
                addFigure(new Figure(title, format), row.path("figures").path(title)));
        if (remarked) {
            tag("td", " class=\"remark\"", row.path(REMARK).asText());
        }
        html.append("</tr>\n");
    }

    private void addFigure(Figure figure, JsonNode spread) {
        html.append("<td class=\"figure\">");
        if (!spread.isMissingNode()) {
            String median = figure.text(spread.path("median").asDouble());
            String min = figure.text(spread.path("min").asDouble());
            String max = figure.text(spread.path("max").asDouble());
            tag("b", "", median);
            if (!min.equals(max)) {
                tag("small", "", min + " to " + max);
            }
        }
        html.append("</td>");
    }

    private void tag(String name, String attributes, String text) {
        html.append('<').append(name).append(attributes).append('>');
        html.append(escaped(text)).append("</").append(name).append('>');
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    private static String template(String name) throws IOException {
        try (var in = ReportPage.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException(name + " is missing from this program");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
