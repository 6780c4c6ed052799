package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.server.protocol.http.Routes.Route;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Compares the OpenAPI description and the HTTP documentation with the table of routes. */
class OpenApiTest {
    private static final Set<String> METHODS = Set.of("get", "head", "put", "post", "delete", "patch", "options");

    @AutoClose
    private HttpFixture server;

    private JsonNode document;

    @BeforeEach
    void start() throws Exception {
        server = HttpFixture.serving();
        document = new ObjectMapper().readTree(server.get("/openapi.json").body());
    }

    @Test
    void describesEveryRouteAndNoOther() {
        Map<String, Set<String>> routes = new TreeMap<>();
        for (Route route : server.server.routes) {
            Set<String> statuses = new TreeSet<>();
            route.allStatuses().forEach(status -> statuses.add(Integer.toString(status)));
            routes.put(key(route) + " " + route.operation(), statuses);
        }
        Map<String, Set<String>> described = new TreeMap<>();
        document.get("paths")
                .properties()
                .forEach(path -> path.getValue().properties().forEach(operation -> {
                    if (METHODS.contains(operation.getKey())) {
                        Set<String> statuses = new TreeSet<>();
                        operation.getValue().get("responses").fieldNames().forEachRemaining(statuses::add);
                        described.put(
                                operation.getKey() + " " + path.getKey() + " "
                                        + operation
                                                .getValue()
                                                .get("operationId")
                                                .asText(),
                                statuses);
                    }
                }));
        assertThat(described).isEqualTo(routes);
    }

    private static String key(Route route) {
        return route.method().name().toLowerCase(Locale.ROOT) + " " + route.path();
    }

    @Test
    void marksRoutesWithoutAuthentication() {
        for (Route route : server.server.routes) {
            JsonNode operation = document.get("paths")
                    .get(route.path())
                    .get(route.method().name().toLowerCase(Locale.ROOT));
            assertThat(operation.has("security")).as(key(route)).isEqualTo(route.permission() == null);
        }
    }

    @Test
    void descriptionIsWellFormed() {
        assertThat(document.get("openapi").asText()).startsWith("3.1.");
        assertThat(document.get("info").get("title").asText()).isNotBlank();
        assertThat(document.get("info").get("version").asText()).isNotBlank();
        document.findValues("responses")
                .get(0)
                .forEach(response -> assertThat(response).isNotEmpty());
        assertReferencesResolve(document);
        Set<String> used = new TreeSet<>();
        document.findValuesAsText("$ref").forEach(used::add);
        for (String kind : Set.of("parameters", "headers", "responses", "schemas")) {
            Iterator<String> names = document.get("components").get(kind).fieldNames();
            names.forEachRemaining(name -> assertThat(used).contains("#/components/" + kind + "/" + name));
        }
    }

    private void assertReferencesResolve(JsonNode node) {
        JsonNode reference = node.get("$ref");
        if (reference != null) {
            JsonNode found = document.at(reference.asText().substring(1));
            assertThat(found.isMissingNode()).as(reference.asText()).isFalse();
        }
        node.forEach(this::assertReferencesResolve);
    }

    @Test
    void documentationMatchesRoutes() throws Exception {
        String http = Files.readString(Path.of("..", "docs", "reference", "http.md"));
        for (Route route : server.server.routes) {
            assertThat(http).contains("`" + route.method().name() + " " + route.path());
        }
        for (String line :
                http.lines().filter(line -> line.matches("\\| `[A-Z]+ /.*")).toList()) {
            String documented = line.substring(3, line.indexOf('`', 3));
            assertThat(server.server.routes)
                    .as(documented)
                    .anyMatch(route ->
                            documented.split("\\?", -1)[0].equals(route.method().name() + " " + route.path()));
        }
    }
}
