package io.caravan.server.protocol.http;

import static io.caravan.server.protocol.http.HttpFixture.assertProblem;
import static io.caravan.server.protocol.http.HttpFixture.header;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.SequenceRange;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests stream behavior that the protocol's conformance suite does not cover. */
class StreamTest {
    private static final String TEXT = "text/plain";
    private static final String JSON = "application/json";

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        server = HttpFixture.serving();
    }

    /** Appends a value, and returns the offset that follows this value. */
    private String appended(String value) throws Exception {
        return header(server.append("/v1/stream/a", TEXT, value), "Stream-Next-Offset");
    }

    private HttpResponse<String> trim(String to) throws Exception {
        return server.send("POST", "/v1/stream/a?trim=" + to, null);
    }

    @Test
    void offsetIncreasesByOnePerValue() throws Exception {
        server.create("/v1/stream/a", TEXT);
        assertThat(appended("one")).isEqualTo(Offset.of(1));
        assertThat(appended("two")).isEqualTo(Offset.of(2));
        HttpResponse<String> rest = server.get("/v1/stream/a?offset=" + Offset.of(1));
        assertThat(rest.body()).isEqualTo("two");
        assertThat(header(rest, "Stream-Next-Offset")).isEqualTo(Offset.of(2));
        assertThat(header(rest, "Stream-Up-To-Date")).isEqualTo("true");
    }

    @Test
    void appendsOnlyAtExpectedOffset() throws Exception {
        server.create("/v1/stream/a", TEXT);
        assertThat(appendAt(Offset.of(0), "one").statusCode()).isEqualTo(204);
        HttpResponse<String> late = appendAt(Offset.of(0), "late");
        assertProblem(late, 409, "sequence_conflict");
        assertThat(header(late, "Stream-Next-Offset")).isEqualTo(Offset.of(1));
        assertProblem(appendAt(Offset.of(2), "early"), 409, "sequence_conflict");
        assertProblem(appendAt("1", "malformed"), 400, "invalid_offset");
        assertProblem(appendAt(Offset.of(0), "", "Stream-Closed", "true"), 409, "sequence_conflict");
        String[] producer = {"Producer-Id", "p", "Producer-Epoch", "0", "Producer-Seq", "0"};
        assertThat(appendAt(Offset.of(1), "two", producer).statusCode()).isEqualTo(200);
        assertThat(appendAt(Offset.of(1), "two", producer).statusCode()).isEqualTo(204);
        assertThat(appendAt(Offset.of(2), "", "Stream-Closed", "true").statusCode())
                .isEqualTo(204);
        assertThat(server.get("/v1/stream/a").body()).isEqualTo("onetwo");
    }

    private HttpResponse<String> appendAt(String offset, String body, String... more) throws Exception {
        List<String> headers = new ArrayList<>(List.of("Content-Type", TEXT, "Stream-If-Offset", offset));
        headers.addAll(List.of(more));
        return server.send("POST", "/v1/stream/a", body, headers.toArray(String[]::new));
    }

    @Test
    void appendsJsonArrayElementsByteForByte() throws Exception {
        server.create("/v1/stream/j", JSON);
        server.append("/v1/stream/j", JSON, "[ {\"b\" : 1.0 , \"a\":[ ]}, 1e3 ,\"\\u0041\", [[2]] ]");
        server.append("/v1/stream/j", JSON, "  {\"x\": \n null} ");
        List<String> values = new ArrayList<>();
        server.documents.read(
                DocumentName.of("j"), info -> new SequenceRange(0, info.nextSequence()), new Collector(values));
        assertThat(values)
                .containsExactly("{\"b\" : 1.0 , \"a\":[ ]}", "1e3", "\"\\u0041\"", "[[2]]", "{\"x\": \n null}");
        assertThat(server.get("/v1/stream/j").body()).isEqualTo('[' + String.join(",", values) + ']');
        assertThat(server.get("/v1/stream/j?offset=" + Offset.of(5)).body()).isEqualTo("[]");
    }

    private record Collector(List<String> values) implements io.caravan.server.document.DocumentReader {
        @Override
        public void begin(long count) {}

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            values.add(StandardCharsets.UTF_8.decode(value).toString());
            return true;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"{", "[1,]", "1 2", "[1] 2", "nul", "{'a':1}", "[", "\"", "\u0000"})
    void rejectsInvalidJson(String body) throws Exception {
        server.create("/v1/stream/j", JSON);
        assertProblem(server.append("/v1/stream/j", JSON, body), 400, "not_json");
        assertThat(server.get("/v1/stream/j").body()).isEqualTo("[]");
    }

    /** A write with too many messages must be rejected. Even a one-digit message needs much space in the log. */
    @Test
    void rejectsTooManyMessagesInOneWrite() throws Exception {
        int fitting = HttpFixture.MAX_BATCH_BYTES / (1 + StreamWrites.MESSAGE_OVERHEAD_BYTES);
        server.create("/v1/stream/j", JSON);
        String most = "[" + "1,".repeat(fitting - 1) + "1]";
        String more = "[" + "1,".repeat(fitting) + "1]";
        assertThat(server.append("/v1/stream/j", JSON, most).statusCode()).isEqualTo(204);
        assertProblem(server.append("/v1/stream/j", JSON, more), 413, "too_many_messages");
        assertProblem(server.send("PUT", "/v1/stream/k", more, "Content-Type", JSON), 413, "too_many_messages");
        assertThat(server.documents.find(DocumentName.of("j")).nextSequence()).isEqualTo(fitting);
        assertThat(server.documents.find(DocumentName.of("k"))).isNull();
    }

    @Test
    void streamNameIsDecodedPath() throws Exception {
        server.create("/v1/stream/a%2Fb%20%C3%A9%00/c//", TEXT);
        byte[] name = "a/b \u00e9\u0000/c//".getBytes(StandardCharsets.UTF_8);
        assertThat(server.documents.find(DocumentName.of(name))).isNotNull();
        assertThat(server.get("/v1/stream/a/b%20%c3%A9%00/c//").statusCode()).isEqualTo(200);
        assertThat(server.get("/v1/stream/a/b+%c3%A9%00/c//").statusCode()).isEqualTo(404);
    }

    @Test
    void limitsNameAndUrlLength() throws Exception {
        server.create("/v1/stream/" + "n".repeat(DocumentName.MAX_BYTES), TEXT);
        assertProblem(
                server.send("PUT", "/v1/stream/" + "n".repeat(DocumentName.MAX_BYTES + 1), null), 414, "name_too_long");
        assertProblem(server.send("PUT", "/v1/stream/", null), 404, "unknown_path");
        assertProblem(server.get("/v1/stream/" + "n".repeat(9_000)), 414, "url_too_long");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "json", "application/json/x", "text/plain text/html", "text/plain\u00e9"})
    void rejectsInvalidContentType(String contentType) throws Exception {
        for (String method : List.of("PUT", "POST")) {
            RawClient.Response rejected = server.ask(method + " /v1/stream/t HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Type: " + contentType + "\r\nContent-Length: 1\r\n\r\nx");
            assertThat(rejected.status()).isEqualTo(400);
            assertThat(rejected.body()).contains("invalid_header");
        }
        assertThat(server.documents.find(DocumentName.of("t"))).isNull();
    }

    @Test
    void rejectsTwoContentTypes() throws Exception {
        String[] headers = {"Content-Type", TEXT, "Content-Type", JSON};
        assertProblem(server.send("PUT", "/v1/stream/t", null, headers), 400, "invalid_header");
    }

    @ParameterizedTest
    @ValueSource(strings = {"__ds/subscriptions/a", "__ds", "%5F_ds/x", "__%64s", "__ds%2Fx"})
    void rejectsReservedPaths(String path) throws Exception {
        assertProblem(server.send("PUT", "/v1/stream/" + path, null), 501, "reserved");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0",
                "1_0",
                "0000000000000000_000000000000000",
                "0000000000000000_000000000000000x",
                "0000000000000000-0000000000000001",
                "00000000000000000_0000000000000000",
                "-000000000000001_0000000000000000",
                "+000000000000001_0000000000000000",
                "000000000000000x_0000000000000000",
                "NOW",
                "-2",
                "%20-1",
                "..%2F..",
                ""
            })
    void rejectsInvalidOffsets(String token) throws Exception {
        server.create("/v1/stream/a", TEXT);
        assertProblem(server.get("/v1/stream/a?offset=" + token), 400, "invalid_offset");
    }

    /** An offset within a value must be rounded down to its start. A Yjs gateway sends such offsets after snapshots. */
    @Test
    void roundsOffsetWithinValueToItsStart() throws Exception {
        server.create("/v1/stream/a", TEXT);
        server.append("/v1/stream/a", TEXT, "one");
        String afterTail = "0000000000000001_0000000000000001";
        HttpResponse<String> nothing = server.get("/v1/stream/a?offset=" + afterTail);
        assertThat(nothing.statusCode()).isEqualTo(200);
        assertThat(nothing.body()).isEmpty();
        assertThat(header(nothing, "Stream-Next-Offset")).isEqualTo(Offset.of(1));
        server.append("/v1/stream/a", TEXT, "two");
        assertThat(server.get("/v1/stream/a?offset=" + afterTail).body()).isEqualTo("two");
        assertThat(server.get("/v1/stream/a?live=long-poll&offset=" + afterTail).body())
                .isEqualTo("two");
        assertThat(header(trim(afterTail), "Stream-First-Offset")).isEqualTo(Offset.of(1));
        assertProblem(server.get("/v1/stream/a?offset=0000000000000003_0000000000000001"), 400, "offset_out_of_range");
    }

    @Test
    void rejectsOffsetAfterTail() throws Exception {
        server.create("/v1/stream/a", TEXT);
        assertProblem(server.get("/v1/stream/a?offset=" + Offset.of(1)), 400, "offset_out_of_range");
        assertProblem(
                server.get("/v1/stream/a?offset=" + Offset.of(9_999_999_999_999_999L)), 400, "offset_out_of_range");
    }

    @ParameterizedTest
    @CsvSource({
        "live=poll, unknown_live",
        "live=sse, offset_missing",
        "live=long-poll, offset_missing",
        "offset=-1&offset=-1, repeated_parameter",
        "offset=%C3, malformed_url"
    })
    void rejectsMalformedQueries(String query, String code) throws Exception {
        server.create("/v1/stream/a", TEXT);
        assertProblem(server.get("/v1/stream/a?" + query), 400, code);
    }

    @Test
    void trimRemovesOldestValuesIdempotently() throws Exception {
        server.create("/v1/stream/a", TEXT);
        for (String value : List.of("a", "b", "c")) {
            server.append("/v1/stream/a", TEXT, value);
        }
        for (int i = 0; i < 2; i++) {
            HttpResponse<String> trimmed = trim(Offset.of(2));
            assertThat(trimmed.statusCode()).isEqualTo(204);
            assertThat(header(trimmed, "Stream-First-Offset")).isEqualTo(Offset.of(2));
            assertThat(header(trimmed, "Stream-Next-Offset")).isEqualTo(Offset.of(3));
        }
        assertThat(header(trim(Offset.of(1)), "Stream-First-Offset")).isEqualTo(Offset.of(2));
        HttpResponse<String> gone = server.get("/v1/stream/a?offset=" + Offset.of(1));
        assertProblem(gone, 410, "offset_trimmed");
        assertThat(header(gone, "Stream-First-Offset")).isEqualTo(Offset.of(2));
        assertThat(server.get("/v1/stream/a?offset=-1").body()).isEqualTo("c");
        assertThat(header(trim("now"), "Stream-First-Offset")).isEqualTo(Offset.of(3));
        assertThat(appended("d")).isEqualTo(Offset.of(4));
    }

    @Test
    void rejectsInvalidTrims() throws Exception {
        assertProblem(trim("now"), 404, "not_found");
        server.create("/v1/stream/a", TEXT);
        assertProblem(trim(Offset.of(1)), 400, "offset_out_of_range");
        assertProblem(trim("2"), 400, "invalid_offset");
        assertProblem(server.send("POST", "/v1/stream/a?trim=now", "x", "Content-Type", TEXT), 400, "body_not_empty");
    }

    @Test
    void respondsNotModifiedUntilStreamChanges() throws Exception {
        server.create("/v1/stream/a", TEXT);
        server.append("/v1/stream/a", TEXT, "one");
        String tag = header(server.get("/v1/stream/a"), "ETag");
        HttpResponse<String> same = server.send("GET", "/v1/stream/a", null, "If-None-Match", "\"x\", W/" + tag);
        assertThat(same.statusCode()).isEqualTo(304);
        assertThat(same.body()).isEmpty();
        assertThat(header(same, "ETag")).isEqualTo(tag);
        server.send("POST", "/v1/stream/a", null, "Stream-Closed", "TRUE");
        HttpResponse<String> closed = server.send("GET", "/v1/stream/a", null, "If-None-Match", tag);
        assertThat(closed.statusCode()).isEqualTo(200);
        assertThat(header(closed, "Stream-Closed")).isEqualTo("true");
    }

    @Test
    void etagDoesNotMatchRecreatedDocument() throws Exception {
        server.create("/v1/stream/a", TEXT);
        server.append("/v1/stream/a", TEXT, "one");
        String tag = header(server.get("/v1/stream/a"), "ETag");
        server.send("DELETE", "/v1/stream/a", null);
        server.create("/v1/stream/a", TEXT);
        server.append("/v1/stream/a", TEXT, "two");
        HttpResponse<String> read = server.send("GET", "/v1/stream/a", null, "If-None-Match", tag);
        assertThat(read.body()).isEqualTo("two");
    }

    @Test
    void closedStreamReportsNextOffset() throws Exception {
        server.create("/v1/stream/a", TEXT);
        server.append("/v1/stream/a", TEXT, "one");
        server.send("POST", "/v1/stream/a", null, "Stream-Closed", "true");
        HttpResponse<String> rejected = server.append("/v1/stream/a", TEXT, "two");
        assertProblem(rejected, 409, "closed");
        assertThat(header(rejected, "Stream-Closed")).isEqualTo("true");
        assertThat(header(rejected, "Stream-Next-Offset")).isEqualTo(Offset.of(1));
    }

    @Test
    void reportsProducerEpochAndSequence() throws Exception {
        server.create("/v1/stream/a", TEXT);
        HttpResponse<String> first = produce("3", "0");
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(header(first, "Producer-Epoch")).isEqualTo("3");
        assertThat(header(first, "Producer-Seq")).isEqualTo("0");
        assertThat(produce("3", "0").statusCode()).isEqualTo(204);
        HttpResponse<String> gap = produce("3", "2");
        assertProblem(gap, 409, "producer_gap");
        assertThat(header(gap, "Producer-Expected-Seq")).isEqualTo("1");
        assertThat(header(gap, "Producer-Received-Seq")).isEqualTo("2");
        HttpResponse<String> fenced = produce("2", "0");
        assertProblem(fenced, 403, "producer_fenced");
        assertThat(header(fenced, "Producer-Epoch")).isEqualTo("3");
        assertProblem(produce("4", "1"), 400, "producer_epoch_start");
        assertThat(server.get("/v1/stream/a").body()).isEqualTo("x");
    }

    private HttpResponse<String> produce(String epoch, String seq) throws Exception {
        String[] headers = {"Content-Type", TEXT, "Producer-Id", "p", "Producer-Epoch", epoch, "Producer-Seq", seq};
        return server.send("POST", "/v1/stream/a", "x", headers);
    }

    @ParameterizedTest
    @CsvSource({
        "Stream-TTL, 01",
        "Stream-TTL, 1.0",
        "Stream-TTL, 99999999999999999999",
        "Stream-Expires-At, tomorrow",
        "Stream-Expires-At, 2026-11-21",
        "Stream-Fork-Offset, 1",
        "Stream-Fork-Sub-Offset, 1"
    })
    void rejectsMalformedHeaders(String name, String value) throws Exception {
        assertProblem(server.send("PUT", "/v1/stream/a", null, name, value), 400, "invalid_header");
        assertThat(server.get("/v1/stream/a").statusCode()).isEqualTo(404);
    }

    @Test
    void headReturnsStreamMetadata() throws Exception {
        server.send(
                "PUT", "/v1/stream/a", null, "Content-Type", TEXT, "Stream-Expires-At", "2100-01-02T03:04:05+01:00");
        server.append("/v1/stream/a", TEXT, "one");
        HttpResponse<String> response = server.send("HEAD", "/v1/stream/a", null);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEmpty();
        assertThat(header(response, "Content-Type")).isEqualTo(TEXT);
        assertThat(header(response, "Stream-Next-Offset")).isEqualTo(Offset.of(1));
        assertThat(header(response, "Stream-First-Offset")).isEqualTo(Offset.of(0));
        assertThat(header(response, "Stream-Expires-At")).isEqualTo("2100-01-02T02:04:05.000Z");
        assertThat(header(response, "Cache-Control")).isEqualTo("no-store");
        assertThat(header(response, "X-Content-Type-Options")).isEqualTo("nosniff");
    }

    @Test
    void rejectsBodyBeyondLimit() throws Exception {
        server.create("/v1/stream/a", TEXT);
        assertThat(server.append("/v1/stream/a", TEXT, "x".repeat(HttpFixture.MAX_BODY_BYTES))
                        .statusCode())
                .isEqualTo(204);
        try (RawClient raw = server.raw()) {
            raw.send("POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: "
                    + (HttpFixture.MAX_BODY_BYTES + 1) + "\r\n\r\n");
            RawClient.Response rejected = raw.read();
            assertThat(rejected.status()).isEqualTo(413);
            assertThat(rejected.headers()).containsEntry("connection", "close");
            assertThat(raw.atEnd()).isTrue();
        }
    }

    @Test
    void forkContainsSourceUpToOffset() throws Exception {
        server.create("/v1/stream/a", TEXT);
        server.append("/v1/stream/a", TEXT, "one");
        server.append("/v1/stream/a", TEXT, "two");
        String[] source = {"Stream-Forked-From", "/v1/stream/%61"};
        String[] headers = {source[0], source[1], "Stream-Fork-Offset", Offset.of(1), "Stream-Fork-Sub-Offset", "2"};
        assertThat(server.status("PUT", "/v1/stream/b", null, headers)).isEqualTo(201);
        assertThat(server.get("/v1/stream/b").body()).isEqualTo("onetw");
        assertProblem(server.send("PUT", "/v1/stream/c", null, "Stream-Forked-From", "/a"), 404, "source_not_found");
        server.send("DELETE", "/v1/stream/a", null);
        assertProblem(server.get("/v1/stream/a"), 410, "gone");
        assertThat(server.get("/v1/stream/b").body()).isEqualTo("onetw");
    }

    @Test
    void acceptsLongJsonNumbersAndNames() throws Exception {
        server.create("/v1/stream/json", JSON);
        String number = "1".repeat(5_000) + "." + "2".repeat(5_000) + "e10";
        String name = "n".repeat(50_001);
        String value = "{\"" + name + "\":" + number + "}";
        assertThat(server.append("/v1/stream/json", JSON, value).statusCode()).isEqualTo(204);
        assertThat(server.append("/v1/stream/json", JSON, "[" + number + "," + value.length() + "]")
                        .statusCode())
                .isEqualTo(204);
        assertThat(server.get("/v1/stream/json").body())
                .isEqualTo("[" + value + "," + number + "," + value.length() + "]");
    }

    @Test
    void reportsJsonNestingLimit() throws Exception {
        server.create("/v1/stream/json", JSON);
        String deepest = "[".repeat(512) + "]".repeat(512);
        assertThat(server.append("/v1/stream/json", JSON, deepest).statusCode()).isEqualTo(204);
        HttpResponse<String> tooDeep = server.append("/v1/stream/json", JSON, "[" + deepest + "]");
        assertProblem(tooDeep, 400, "not_json");
        assertThat(tooDeep.body()).contains("nested at most 512 deep").doesNotContain("StreamReadConstraints");
        String farTooDeep = "[".repeat(20_000) + "]".repeat(20_000);
        assertProblem(server.append("/v1/stream/json", JSON, farTooDeep), 400, "not_json");
    }
}
