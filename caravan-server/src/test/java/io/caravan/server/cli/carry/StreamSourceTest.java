package io.caravan.server.cli.carry;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.cli.carry.FakeStreams.Answer;
import io.caravan.server.cli.carry.StreamSource.Head;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.HttpLink;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams from a server that is busy, breaks connections, or sends invalid responses. */
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
        return new StreamSource(new HttpLink(fake.uri(), null, null, timeout), MAX_VALUE_BYTES, pauses::add);
    }

    /** Reads a stream. The response to HEAD has these headers, and the function returns the responses to GET. */
    private List<String> read(String head, Function<String, Answer> gets) throws IOException {
        return read(head, gets, Duration.ofSeconds(60));
    }

    private List<String> read(String head, Function<String, Answer> gets, Duration timeout) throws IOException {
        try (FakeStreams fake =
                new FakeStreams(request -> request.startsWith("HEAD") ? Answer.of(head, "") : gets.apply(request))) {
            StreamSource source = source(fake, timeout);
            Head described = source.describe(NAME);
            closed = source.read(NAME, described, value -> values.add(new String(value, UTF_8)));
            assertThat(fake.requests).allMatch(request -> request.contains(" /streams/a/b%20c"));
        }
        return values;
    }

    private void refused(String head, Answer get, String why) {
        assertThatThrownBy(() -> read(head, request -> get))
                .isInstanceOfSatisfying(
                        ClientException.class,
                        refusal -> assertThat(refusal.isOtherState()).isTrue())
                .hasMessageContaining(why);
    }

    @Test
    void messagesComeByteForByteFromAllAnswers() throws IOException {
        assertThat(read(
                        JSON,
                        request -> request.endsWith("offset=-1")
                                ? Answer.of(
                                        JSON + "Stream-Next-Offset: 3 %\r\n",
                                        " [ 1.0 ,\"a,]\\\"\" , {\"b\": [ 2,3 ] }\n]\r\n")
                                : request.endsWith("offset=3+%25")
                                        ? Answer.of(JSON + END, "[null]")
                                        : Answer.of(404, "", "")))
                .containsExactly("1.0", "\"a,]\\\"\"", "{\"b\": [ 2,3 ] }", "null");
        assertThat(closed).isFalse();
        assertThat(pauses).isEmpty();
    }

    @Test
    void bytesComeByAnswersAndLongOnesInBlocks() throws IOException {
        String longOne = "x".repeat(2 * MAX_VALUE_BYTES + 1);
        assertThat(read(
                        TEXT,
                        request -> request.endsWith("=-1")
                                ? Answer.of(TEXT + "Stream-Next-Offset: 3\r\n", longOne)
                                : Answer.of(TEXT + "Stream-Closed: true\r\n" + END, "end")))
                .containsExactly("x".repeat(MAX_VALUE_BYTES), "x".repeat(MAX_VALUE_BYTES), "x", "end");
        assertThat(closed).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", " [ ] "})
    void aStreamMayBeEmpty(String body) throws IOException {
        assertThat(read(JSON, request -> Answer.of(JSON + END, body))).isEmpty();
    }

    @Test
    void whatItIsBesideItsValuesComesFromHeaders() throws IOException {
        try (FakeStreams fake = new FakeStreams(
                request -> Answer.of("Content-Type: text/a; b=c\r\nStream-TTL: 60\r\nStream-Closed: true\r\n", ""))) {
            Head head = source(fake, Duration.ofSeconds(60)).describe(NAME);
            assertThat(head.contentType()).isEqualTo("text/a; b=c");
            assertThat(head.closed()).isTrue();
            assertThat(head.attributes()).containsEntry("ttl", 60L).doesNotContainKey("expires");
        }
        try (FakeStreams fake =
                new FakeStreams(request -> Answer.of(TEXT + "Stream-Expires-At: 1970-01-01T00:00:01Z\r\n", ""))) {
            assertThat(source(fake, Duration.ofSeconds(60)).describe(NAME).attributes())
                    .containsEntry("expires", 1_000L);
        }
    }

    /** The response is cut within the third message. The next one has all messages and one more. */
    @Test
    void afterACutEveryMessageComesOnce() throws IOException {
        AtomicInteger gets = new AtomicInteger();
        assertThat(read(
                        JSON,
                        request -> gets.getAndIncrement() < 2
                                ? Answer.cut(200, JSON + END, "[1,2,\"thi", 100)
                                : Answer.of(JSON + END, "[1,2,\"third\",4]")))
                .containsExactly("1", "2", "\"third\"", "4");
        assertThat(pauses).containsExactly(250L, 500L);
    }

    @Test
    void whatIsAnotherStreamAfterACutIsRefused() {
        AtomicInteger gets = new AtomicInteger();
        assertThatThrownBy(() -> read(
                        JSON,
                        request -> gets.getAndIncrement() == 0
                                ? Answer.cut(200, JSON + END, "[1,2,\"thi", 100)
                                : Answer.of(JSON + END, "[1,5,\"third\"]")))
                .hasMessageContaining("was changed while it was read");
    }

    @Test
    void anAnswerThatStopsIsAskedForAgain() throws IOException {
        AtomicInteger gets = new AtomicInteger();
        assertThat(read(
                        TEXT,
                        request -> gets.getAndIncrement() == 0
                                ? Answer.hanging(TEXT + END, "ab", 4)
                                : Answer.of(TEXT + END, "abcd"),
                        Duration.ofSeconds(1)))
                .containsExactly("abcd");
        assertThat(pauses).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 502, 503, 504})
    void aBusyServerIsAskedAgainWhenItSays(int status) throws IOException {
        AtomicInteger gets = new AtomicInteger();
        assertThat(read(
                        TEXT,
                        request -> gets.getAndIncrement() < 2
                                ? Answer.of(status, "Retry-After: 7\r\n", "busy")
                                : Answer.of(TEXT + END, "a")))
                .containsExactly("a");
        assertThat(pauses).containsExactly(7_000L, 7_000L);
    }

    @Test
    void aServerThatStaysBusyOrAsksForTooMuchEndsTheCommand() {
        assertThatThrownBy(() -> read(TEXT, request -> Answer.of(503, "Retry-After: nonsense\r\n", "")))
                .hasMessageContaining("it responds with status 503 (tried 5 times); to continue, run the command again")
                .isInstanceOfSatisfying(
                        ClientException.class,
                        failure -> assertThat(failure.isOtherState()).isFalse());
        assertThat(pauses).containsExactly(250L, 500L, 1_000L, 2_000L);
        assertThatThrownBy(() -> read(TEXT, request -> Answer.of(429, "Retry-After: 3600\r\n", "")))
                .hasMessageContaining("requests a pause of 3600 s");
    }

    @ParameterizedTest
    @CsvSource({
        "403, may not be read with this token",
        "404, does not exist there",
        "410, is deleted there",
        "500, is answered with the status 500",
    })
    void aRefusalIsThatOfOneStream(int status, String why) {
        refused(TEXT, Answer.of(status, "", ""), why);
    }

    @Test
    void aRedirectIsToldAndNotFollowed() {
        refused(TEXT, Answer.of(307, "Location: http://elsewhere/\r\n", ""), "elsewhere (307), at http://elsewhere/");
    }

    @Test
    void headersThatAreMissingOrSenselessAreRefused() {
        refused("", Answer.of("", ""), "without the header Content-Type");
        refused(TEXT, Answer.of(TEXT + "Stream-Up-To-Date: true\r\n", "a"), "without the header Stream-Next-Offset");
        refused(TEXT + "Stream-TTL: -1\r\n", Answer.of("", ""), "makes no sense: Stream-TTL: -1");
        refused(TEXT + "Stream-Expires-At: soon\r\n", Answer.of("", ""), "makes no sense: Stream-Expires-At: soon");
        refused("Content-Type: " + "x".repeat(300) + "\r\n", Answer.of("", ""), "makes no sense: Content-Type: xxx");
        refused(TEXT, Answer.of(JSON + END, "[]"), "has another content type than a moment ago");
    }

    @Test
    void anOffsetThatDoesNotMoveIsRefused() {
        refused(TEXT, Answer.of(TEXT + "Stream-Next-Offset: 3\r\n", ""), "more follows offset 3, and sends nothing");
    }

    @Test
    void answersWithoutEndAreRefused() throws IOException {
        AtomicInteger next = new AtomicInteger();
        assertThatThrownBy(() -> read(
                        TEXT,
                        request -> Answer.of(TEXT + "Stream-Next-Offset: " + next.incrementAndGet() + "\r\n", "")))
                .hasMessageContaining("does not come to its end");
        refused(JSON, Answer.of(JSON + END, "[1," + " ".repeat(100_000)), "nothing but white space");
        refused(JSON, Answer.of(JSON + END, "[\"" + "x".repeat(MAX_VALUE_BYTES)), "a message of more than 1000 bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "{}", "[1", "[1,]", "[,1]", "[1][2]", "[\"a]"})
    void whatIsNoArrayIsRefused(String body) {
        refused(JSON, Answer.of(JSON + END, body), "no array of JSON");
    }

    /** The first response is like that of a cache that does not have the end of the stream yet. */
    @Test
    void aClosedStreamIsReadUpToItsEnd() throws IOException {
        assertThat(read(
                        TEXT + "Stream-Closed: true\r\n",
                        request -> request.endsWith("=-1")
                                ? Answer.of(TEXT + "Stream-Next-Offset: 3\r\nStream-Up-To-Date: true\r\n", "a")
                                : Answer.of(TEXT + "Stream-Closed: true\r\n" + END, "b")))
                .containsExactly("a", "b");
        assertThat(closed).isTrue();
    }
}
