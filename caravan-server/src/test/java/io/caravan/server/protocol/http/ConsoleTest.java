package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.security.Authenticator;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the console files and the responses that serve them, and that the files load nothing from other servers. */
class ConsoleTest {
    private static final Path FILES =
            Path.of("src", "main", "resources", "io", "caravan", "server", "protocol", "http", "console");
    private static final Path VENDOR = FILES.resolve("vendor");
    private static final String LIST = "vendor/vendored.txt";

    @AutoClose
    private HttpFixture server;

    /** Starts a server with authentication, which the console files do not need. */
    @BeforeEach
    void start() throws Exception {
        Authenticator closed = Authenticator.ofPassword("secret".getBytes(StandardCharsets.UTF_8));
        server = HttpFixture.guarded(closed);
    }

    private static Set<String> files() throws IOException {
        try (Stream<Path> all = Files.walk(FILES)) {
            Set<String> names = new TreeSet<>();
            all.filter(Files::isRegularFile)
                    .forEach(file -> names.add(FILES.relativize(file).toString().replace('\\', '/')));
            return names;
        }
    }

    @Test
    void servesEveryFileWithoutToken() throws Exception {
        Set<String> files = files();
        files.remove(LIST);
        assertThat(files).hasSizeGreaterThan(15);
        for (String name : files) {
            HttpResponse<String> response = server.get("/console/" + name);
            assertThat(response.statusCode()).as(name).isEqualTo(200);
            assertThat(response.body()).as(name).isEqualTo(Files.readString(FILES.resolve(name)));
            assertThat(response.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
            assertThat(response.headers().firstValue("Referrer-Policy")).hasValue("no-referrer");
            assertThat(response.headers().firstValue("Content-Security-Policy").orElseThrow())
                    .startsWith("default-src 'none'; script-src 'self'; style-src 'self';")
                    .contains("frame-ancestors 'none'", "connect-src 'self'")
                    .doesNotContain("unsafe", "*", "http");
        }
    }

    @Test
    void servesFilesWhileAllReadersAreBusy() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        server.occupyReaders(done);
        try {
            assertThat(server.get("/console/").statusCode()).isEqualTo(200);
        } finally {
            done.countDown();
        }
    }

    @Test
    void deepPathsDoNotHarmConnection() throws Exception {
        try (RawClient client = server.raw()) {
            client.send(RawClient.get("/console/" + "a/".repeat(3000)) + RawClient.get("/console/"));
            assertThat(client.read().status()).isEqualTo(404);
            assertThat(client.read().status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/console/none.js", "/console/" + LIST, "/console/../openapi.json", "/console/js", "/consoles"})
    void otherPathsAreNotFound(String path) throws Exception {
        assertThat(server.get(path).statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/console"})
    void redirectsToConsoleByRelativeUrl(String path) throws Exception {
        HttpResponse<String> moved = server.get(path);
        assertThat(moved.statusCode()).isEqualTo(302);
        assertThat(moved.headers().firstValue("Location")).hasValue("console/");
        HttpResponse<String> first = server.get("/console/");
        assertThat(first.body()).contains("<title>Caravan</title>");
        assertThat(first.headers().firstValue("Content-Type")).hasValue("text/html; charset=utf-8");
    }

    @Test
    void respondsNotModifiedForCachedFile() throws Exception {
        String tag =
                server.get("/console/js/app.js").headers().firstValue("ETag").orElseThrow();
        HttpResponse<String> again = server.send("GET", "/console/js/app.js", null, "If-None-Match", tag);
        assertThat(again.statusCode()).isEqualTo(304);
        assertThat(again.body()).isEmpty();
        assertThat(server.status("GET", "/console/js/api.js", null, "If-None-Match", tag))
                .isEqualTo(200);
    }

    @Test
    void vendoredFilesMatchTheirList() throws Exception {
        Set<String> listed = new TreeSet<>(Set.of(LIST));
        for (String line : Files.readAllLines(FILES.resolve(LIST))) {
            if (line.startsWith("#")) {
                continue;
            }
            String[] parts = line.split(" ", -1);
            assertThat(parts).as("hash, file, package, version, licence").hasSize(5);
            assertThat(parts[3]).matches("\\d+\\.\\d+\\.\\d+");
            byte[] bytes = Files.readAllBytes(VENDOR.resolve(parts[1]));
            assertThat(HexFormat.of()
                            .formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)))
                    .as(parts[1])
                    .isEqualTo(parts[0]);
            listed.add("vendor/" + parts[1]);
            assertThat(VENDOR.resolve(parts[1]).resolveSibling("LICENSE")).exists();
        }
        assertThat(files().stream().filter(name -> name.startsWith("vendor/"))).containsExactlyElementsOf(listed);
    }

    @Test
    void pageHasNoInlineScriptsOrStyles() throws Exception {
        String page = Files.readString(FILES.resolve("index.html"));
        assertThat(page)
                .doesNotContain("<style")
                .doesNotContainPattern("\\sstyle=")
                .doesNotContainPattern("\\son\\w+=");
        assertThat(Pattern.compile("<script[^>]*>([^<]*)</script>")
                        .matcher(page)
                        .results())
                .allSatisfy(script -> assertThat(script.group(1)).isEmpty());
        for (String name : own(".js")) {
            assertThat(Files.readString(FILES.resolve(name)))
                    .as(name)
                    .doesNotContain("unsafeHTML", "innerHTML", "eval(", "new Function")
                    .doesNotContainPattern("<[a-z][^>]*\\sstyle=");
        }
    }

    private static List<String> own(String... endings) throws IOException {
        return files().stream()
                .filter(name -> !name.startsWith("vendor/"))
                .filter(name -> Stream.of(endings).anyMatch(name::endsWith))
                .toList();
    }

    /** All URLs must be relative, so that the console works under any path and loads nothing from other servers. */
    @Test
    void allUrlsAreRelative() throws Exception {
        Pattern address =
                Pattern.compile("(?:src|href)=\"([^\"$]+)\"|from '([^']+)'|import '([^']+)'|url\\(([^)]+)\\)");
        for (String name : own(".html", ".js", ".css", ".svg")) {
            String text = Files.readString(FILES.resolve(name));
            assertThat(text.replace("http://www.w3.org/2000/svg", ""))
                    .as(name)
                    .doesNotContainPattern("https?://|['\"]//\\w");
            Matcher found = address.matcher(text);
            while (found.find()) {
                assertThat(found.group()).as(name).doesNotContainPattern("['\"(]/");
            }
        }
    }
}
