package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.HttpLink;
import io.caravan.server.cli.client.Retries;
import io.caravan.server.cli.migration.FakeStreams.Response;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests reading streams from a server that is busy, breaks connections, or sends invalid responses. */
@Timeout(120)
class StreamSourceTest {
    private static final int MAX_VALUE_BYTES = 1_000;
    private static final String JSON = "Content-Type: application/json\r\n";
    private static final String TEXT = "Content-Type: text/plain\r\n";
    private static final String END = "Stream-Next-Offset: 9\r\nStream-Up-To-Date: true\r\n";
    private static final byte[] NAME = "a/b c".getBytes(UTF_8);

    private final List<Long> pauses = new ArrayList<>();
    private final List<String> values = new ArrayList<>();
    private boolean closed;

    private StreamSource source(FakeStreams fake, Duration timeout) {
        return new StreamSource(
                new HttpLink(fake.uri(), null, null, timeout), MAX_VALUE_BYTES, new Retries(pauses::add));
    }

    /** Reads a stream. The response to HEAD has these headers, and the function returns the responses to GET. */
    private List<String> read(String head, Function<String, Response> gets) throws IOException {
        return read(head, gets, Duration.ofSeconds(60));
    }

    private List<String> read(String head, Function<String, Response> gets, Duration timeout) throws IOException {
        try (FakeStreams fake =
                new FakeStreams(request -> request.startsWith("HEAD") ? Response.of(head, "") : gets.apply(request))) {
            StreamSource source = source(fake, timeout);
            Description described = source.describe(NAME);
            closed = source.read(NAME, described, value -> values.add(new String(value, UTF_8)));
            assertThat(fake.requests).allMatch(request -> request.contains(" /streams/a/b%20c"));
        }
        return values;
    }

    private void assertRejected(String head, Response get, String why) {
        assertThatThrownBy(() -> read(head, request -> get))
                .isInstanceOfSatisfying(
                        ClientException.class,
                        rejection -> assertThat(rejection.isOtherState()).isTrue())
                .hasMessageContaining(why);
    }

    @Test
    void readsExactMessagesFromAllResponses() throws IOException {
        assertThat(read(
                        JSON,
                        request -> request.endsWith("offset=-1")
                                ? Response.of(
                                        JSON + "Stream-Next-Offset: 3 %\r\n",
                                        " [ 1.0 ,\"a,]\\\"\" , {\"b\": [ 2,3 ] }\n]\r\n")
                                : request.endsWith("offset=3+%25")
                                        ? Response.of(JSON + END, "[null]")
                                        : Response.of(404, "", "")))
                .containsExactly("1.0", "\"a,]\\\"\"", "{\"b\": [ 2,3 ] }", "null");
        assertThat(closed).isFalse();
        assertThat(pauses).isEmpty();
    }

    @Test
    void splitsLongResponseIntoBoundedValues() throws IOException {
        String longOne = "x".repeat(2 * MAX_VALUE_BYTES + 1);
        assertThat(read(
                        TEXT,
                        request -> request.endsWith("=-1")
                                ? Response.of(TEXT + "Stream-Next-Offset: 3\r\n", longOne)
                                : Response.of(TEXT + "Stream-Closed: true\r\n" + END, "end")))
                .containsExactly("x".repeat(MAX_VALUE_BYTES), "x".repeat(MAX_VALUE_BYTES), "x", "end");
        assertThat(closed).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", " [ ] "})
    void readsEmptyStream(String body) throws IOException {
        assertThat(read(JSON, request -> Response.of(JSON + END, body))).isEmpty();
    }

    @Test
    void readsAttributesFromHeaders() throws IOException {
        try (FakeStreams fake = new FakeStreams(request -> Response.of(
                "Content-Type: text/a; b=c\r\nStream-TTL: 9223372036854775807\r\nStream-Closed: true\r\n", ""))) {
            Description head = source(fake, Duration.ofSeconds(60)).describe(NAME);
            assertThat(Importer.contentType(head)).isEqualTo("text/a; b=c");
            assertThat(StreamSource.isClosed(head)).isTrue();
            assertThat(head.attributes()).containsEntry("ttl", Long.MAX_VALUE).doesNotContainKey("expires");
        }
        try (FakeStreams fake =
                new FakeStreams(request -> Response.of(TEXT + "Stream-Expires-At: 1970-01-01T00:00:01Z\r\n", ""))) {
            assertThat(source(fake, Duration.ofSeconds(60)).describe(NAME).attributes())
                    .containsEntry("expires", 1_000L);
        }
    }

    /** Each message must be read once, even if a response ends within a message and the next one starts over. */
    @Test
    void readsEachMessageOnceAfterCutResponse() throws IOException {
        AtomicInteger gets = new AtomicInteger();
        assertThat(read(
                        JSON,
                        request -> gets.getAndIncrement() < 2
                                ? Response.cut(200, JSON + END, "[1,2,\"thi", 100)
                                : Response.of(JSON + END, "[1,2,\"third\",4]")))
                .containsExactly("1", "2", "\"third\"", "4");
        assertThat(pauses).containsExactly(250L, 500L);
    }

    /** A response that was cut off is progress if it brings a message, so that the command does not give up. */
    @Test
    void continuesWhileEachChunkedResponseBringsMessage() throws IOException {
        int messages = 12;
        AtomicInteger gets = new AtomicInteger();
        read(JSON, request -> {
            int count = gets.incrementAndGet();
            List<String> chunks = new ArrayList<>(List.of("["));
            IntStream.rangeClosed(1, count).forEach(i -> chunks.add(i + (i == messages ? "]" : ",")));
            return Response.chunked(JSON + END, chunks, count == messages);
        });
        assertThat(values)
                .containsExactlyElementsOf(IntStream.rangeClosed(1, messages)
                        .mapToObj(Integer::toString)
                        .toList());
        assertThat(pauses).hasSize(messages - 1).containsOnly(250L);
    }

    /** The chunks that have arrived must be readable, even if the connection is lost before they are read. */
    @Test
    void readsAllChunksThatArrivedBeforeCut() throws Exception {
        try (FakeStreams fake = new FakeStreams(request -> Response.chunked("", List.of("a", "b", "c"), false))) {
            HttpLink link = new HttpLink(fake.uri(), null, null, Duration.ofSeconds(60));
            try (HttpLink.Response response = link.send("GET", "/a", true)) {
                assertThat(response.body().read()).isEqualTo('a');
                assertThat(response.body().read()).isEqualTo('b');
                assertThat(response.body().read()).isEqualTo('c');
                assertThatThrownBy(response.body()::read).hasMessageContaining("the response was cut off");
            }
        }
    }

    @Test
    void rejectsChangedStreamAfterCutResponse() {
        AtomicInteger gets = new AtomicInteger();
        assertThatThrownBy(() -> read(
                        JSON,
                        request -> gets.getAndIncrement() == 0
                                ? Response.cut(200, JSON + END, "[1,2,\"thi", 100)
                                : Response.of(JSON + END, "[1,5,\"third\"]")))
                .hasMessageContaining("was changed while it was read");
    }

    @Test
    void retriesStalledResponse() throws IOException {
        AtomicInteger gets = new AtomicInteger();
        assertThat(read(
                        TEXT,
                        request -> gets.getAndIncrement() == 0
                                ? Response.hanging(TEXT + END, "ab", 4)
                                : Response.of(TEXT + END, "abcd"),
                        Duration.ofSeconds(1)))
                .containsExactly("abcd");
        assertThat(pauses).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 502, 503, 504})
    void honorsRetryAfterOfBusyServer(int status) throws IOException {
        AtomicInteger gets = new AtomicInteger();
        assertThat(read(
                        TEXT,
                        request -> gets.getAndIncrement() < 2
                                ? Response.of(status, "Retry-After: 7\r\n", "busy")
                                : Response.of(TEXT + END, "a")))
                .containsExactly("a");
        assertThat(pauses).containsExactly(7_000L, 7_000L);
    }

    @Test
    void failsIfServerStaysBusyOrPauseIsTooLong() {
        assertThatThrownBy(() -> read(TEXT, request -> Response.of(503, "Retry-After: nonsense\r\n", "")))
                .hasMessageContaining("it responds with status 503 (tried 5 times); to continue, run the command again")
                .isInstanceOfSatisfying(
                        ClientException.class,
                        failure -> assertThat(failure.isOtherState()).isFalse());
        assertThat(pauses).containsExactly(250L, 500L, 1_000L, 2_000L);
        assertThatThrownBy(() -> read(TEXT, request -> Response.of(429, "Retry-After: 3600\r\n", "")))
                .hasMessageContaining("requests a pause of 3600 s");
    }

    @ParameterizedTest
    @CsvSource({
        "403, may not be read with this token",
        "404, does not exist there",
        "410, is deleted there",
        "500, has a response with the status 500",
    })
    void reportsErrorStatusPerStream(int status, String why) {
        assertRejected(TEXT, Response.of(status, "", ""), why);
    }

    @Test
    void reportsRedirectWithoutFollowingIt() {
        assertRejected(
                TEXT,
                Response.of(307, "Location: http://elsewhere/\r\n", ""),
                "at another address (307), http://elsewhere/");
    }

    @Test
    void rejectsMissingOrInvalidHeaders() {
        assertRejected("", Response.of("", ""), "without the header Content-Type");
        assertRejected(
                TEXT, Response.of(TEXT + "Stream-Up-To-Date: true\r\n", "a"), "without the header Stream-Next-Offset");
        for (String ttl : List.of("-1", "9223372036854775808", "soon")) {
            assertRejected(
                    TEXT + "Stream-TTL: " + ttl + "\r\n", Response.of("", ""), "invalid header: Stream-TTL: " + ttl);
        }
        assertRejected(
                TEXT + "Stream-Expires-At: soon\r\n", Response.of("", ""), "invalid header: Stream-Expires-At: soon");
        assertRejected(
                "Content-Type: " + "x".repeat(300) + "\r\n", Response.of("", ""), "invalid header: Content-Type: xxx");
        assertRejected(TEXT, Response.of(JSON + END, "[]"), "has changed its content type");
    }

    @Test
    void rejectsOffsetWithoutProgress() {
        assertRejected(
                TEXT,
                Response.of(TEXT + "Stream-Next-Offset: 3\r\n", ""),
                "reports more values after offset 3, and sends none");
    }

    @Test
    void rejectsEndlessResponses() throws IOException {
        AtomicInteger next = new AtomicInteger();
        assertThatThrownBy(() -> read(
                        TEXT,
                        request -> Response.of(TEXT + "Stream-Next-Offset: " + next.incrementAndGet() + "\r\n", "")))
                .hasMessageContaining("does not end");
        assertRejected(JSON, Response.of(JSON + END, "[1," + " ".repeat(100_000)), "too much white space");
        assertRejected(
                JSON,
                Response.of(JSON + END, "[\"" + "x".repeat(MAX_VALUE_BYTES)),
                "a message of more than 1000 bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "{}", "[1", "[1,]", "[,1]", "[1][2]", "[\"a]"})
    void rejectsInvalidJsonArray(String body) {
        assertRejected(JSON, Response.of(JSON + END, body), "not a JSON array");
    }

    /** A closed stream must be read to its end, even if a cache first returns a response without the end. */
    @Test
    void readsClosedStreamToEnd() throws IOException {
        assertThat(read(
                        TEXT + "Stream-Closed: true\r\n",
                        request -> request.endsWith("=-1")
                                ? Response.of(TEXT + "Stream-Next-Offset: 3\r\nStream-Up-To-Date: true\r\n", "a")
                                : Response.of(TEXT + "Stream-Closed: true\r\n" + END, "b")))
                .containsExactly("a", "b");
        assertThat(closed).isTrue();
    }
}
