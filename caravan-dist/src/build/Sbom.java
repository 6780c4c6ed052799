import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;

/** Writes a software bill of materials for each package. It lists the JAR files and the other contents. */
final class Sbom {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path stage;
    private final String architecture;

    private Sbom(Path stage, String architecture) {
        this.stage = stage;
        this.architecture = architecture;
    }

    /**
     * Writes the bills of materials. The arguments are the bill of the JAR files, the stage directory, and Debian's
     * name for the architecture.
     */
    public static void main(String[] args) throws IOException {
        ObjectNode bill = (ObjectNode) JSON.readTree(Path.of(args[0]).toFile());
        Sbom sbom = new Sbom(Path.of(args[1]), args[2]);
        sbom.write("any", bill);
        sbom.addRuntime((ArrayNode) bill.get("components"));
        sbom.write("linux", bill);
        sbom.addLibraries((ArrayNode) bill.get("components"));
        sbom.write("image", bill);
    }

    private void addRuntime(ArrayNode components) throws IOException {
        Properties release = new Properties();
        try (var in = Files.newBufferedReader(stage.resolve("linux/runtime/release"))) {
            release.load(in);
        }
        String version = value(release, "JAVA_RUNTIME_VERSION", value(release, "JAVA_VERSION", ""));
        ObjectNode runtime = component("platform", "openjdk", version, "pkg:generic/openjdk@" + version.replace("+", "%2B"));
        runtime.put("publisher", value(release, "IMPLEMENTOR", "OpenJDK"));
        license(runtime, "expression", "GPL-2.0-only WITH Classpath-exception-2.0");
        components.add(runtime);
    }

    private void addLibraries(ArrayNode components) throws IOException {
        for (String line : Files.readAllLines(stage.resolve("debian"))) {
            String[] words = line.split(" ");
            String address = "pkg:deb/debian/" + words[0].replace("+", "%2B") + "@" + words[1].replace("+", "%2B") + "?arch=" + architecture;
            ObjectNode library = component("library", words[0], words[1], address);
            license(library, "name", "see usr/share/doc/" + words[0] + "/copyright");
            components.add(library);
        }
    }

    private static ObjectNode component(String type, String name, String version, String address) {
        return JSON.createObjectNode()
                .put("type", type)
                .put("bom-ref", address)
                .put("name", name)
                .put("version", version)
                .put("purl", address);
    }

    private static void license(ObjectNode component, String kind, String text) {
        ObjectNode choice = component.putArray("licenses").addObject();
        if (kind.equals("expression")) {
            choice.put("expression", text);
        } else {
            choice.putObject("license").put(kind, text);
        }
    }

    /** Returns a value without the quotes that surround it in a {@code release} file. */
    private static String value(Properties release, String key, String otherwise) {
        return release.getProperty(key, otherwise).replace("\"", "");
    }

    private void write(String part, JsonNode bill) throws IOException {
        Path directory = stage.resolve(part);
        JSON.writerWithDefaultPrettyPrinter().writeValue(directory.resolve("sbom.json").toFile(), bill);
        Files.write(directory.resolve("THIRD-PARTY.txt"), thirdParties(bill));
    }

    private static List<String> thirdParties(JsonNode bill) {
        return bill.get("components").findParents("purl").stream()
                .filter(component -> !component.path("group").asText().equals("io.caravan"))
                .map(component -> component.get("name").asText() + " " + component.get("version").asText() + ": "
                        + String.join(", ", licenses(component)))
                .sorted()
                .toList();
    }

    private static List<String> licenses(JsonNode component) {
        List<String> names = new java.util.ArrayList<>();
        for (JsonNode choice : component.path("licenses")) {
            JsonNode license = choice.path("license");
            names.add(choice.path("expression").asText(license.path("id").asText(license.path("name").asText())));
        }
        return names;
    }
}
