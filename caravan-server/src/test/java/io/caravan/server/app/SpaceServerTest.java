package io.caravan.server.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.protocol.resp.RespClient;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests spaces over RESP and HTTP: settings, limits, errors, and statistics. */
class SpaceServerTest {

    private static ServerFixture server;
    private static RespClient client;

    @BeforeAll
    static void start() throws IOException {
        server = new ServerFixture(ListStore.inMemory(), config -> config.withHttp(ServerFixture.HTTP));
        client = server.connect();
    }

    @AfterAll
    static void stop() throws IOException {
        client.close();
        server.close();
    }

    private static void replies(String expected, String... words) throws IOException {
        client.replies(expected, words);
    }

    private static void assertRejected(HttpResponse<String> response, int status, String code) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.body()).contains("\"code\":\"" + code + "\"");
    }

    private static String spaceInfo(String prefix) throws IOException {
        return client.call("CARAVAN.SPACE", "GET", prefix);
    }

    @Test
    void setsListsAndRemovesSpaceOverBothProtocols() throws Exception {
        assertThat(client.call("CARAVAN.SPACE", "SET", "a/", "MAX-VALUES", "3", "max-bytes", "100"))
                .startsWith("[$prefix, $a/, $max-values, :3, $max-bytes, :100, $documents, :0, $bytes, :0, ");
        assertThat(client.call("CARAVAN.SPACE", "SET", "a/", "max-bytes", "0", "retain-values", "2"))
                .startsWith("[$prefix, $a/, $max-values, :3, $retain-values, :2, $documents");
        HttpResponse<String> replaced = server.http("PUT", "/v1/spaces/a/", "{\"max-value-bytes\": 5}");
        assertThat(replaced.statusCode()).isEqualTo(200);
        assertThat(replaced.body())
                .contains("\"prefix\":\"a/\"", "\"path\":\"/v1/spaces/a/\"", "\"settings\":{\"max-value-bytes\":5}");
        assertThat(spaceInfo("a/")).startsWith("[$prefix, $a/, $max-value-bytes, :5, $documents");
        assertThat(server.get("/v1/spaces/a/")).contains("\"max-value-bytes\":5");
        assertThat(server.get("/v1/spaces")).contains("\"prefix\":\"a/\"");
        assertThat(client.call("CARAVAN.SPACE", "LIST")).contains("[$prefix, $a/, ");
        assertThat(server.http("DELETE", "/v1/spaces/a/", "").statusCode()).isEqualTo(204);
        assertRejected(server.http("DELETE", "/v1/spaces/a/", ""), 404, "no_space");
        assertRejected(server.http("GET", "/v1/spaces/a/", ""), 404, "no_space");
        replies(":0", "CARAVAN.SPACE", "REMOVE", "a/");
        replies("null", "CARAVAN.SPACE", "GET", "a/");
        assertThat(client.call("CARAVAN.SPACE", "HELP")).contains("+CARAVAN.SPACE SET prefix setting value");
    }

    @Test
    void reportsValueTimestampOverHttp() throws Exception {
        long before = System.currentTimeMillis();
        assertThat(client.call("CARAVAN.SPACE", "SET", "t/", "timestamps", "on"))
                .contains("$timestamps, $on");
        assertThat(server.get("/v1/spaces/t/")).contains("\"timestamps\":\"on\"");
        replies(":2", "RPUSH", "t/1", "one", "two");
        String timed = server.get("/v1/values/t/1");
        assertThat(timed).contains("\"bytes\":3,\"base64\":\"b25l\",\"time\":");
        long time = Long.parseLong(timed.replaceAll("(?s).*\"time\":(\\d+).*", "$1"));
        assertThat(time).isBetween(before, System.currentTimeMillis());
        client.call("CARAVAN.SPACE", "SET", "t/", "timestamps", "0", "max-values", "9");
        replies(":3", "RPUSH", "t/1", "three");
        assertThat(server.get("/v1/values/t/1?newest=true&limit=1")).doesNotContain("\"time\"");
        replies("[$one, $two, $three]", "LRANGE", "t/1", "0", "-1");
        assertThat(server.get("/v1/stream/t/1?offset=-1")).isEqualTo("onetwothree");
        assertThat(client.call("CARAVAN.SPACE", "SET", "t/", "timestamps", "off"))
                .isEqualTo("-ERR timestamps must be on, or 0 to unset it");
    }

    @Test
    void rejectsInvalidSettingsWithoutChange() throws Exception {
        client.call("CARAVAN.SPACE", "SET", "b/", "max-values", "3");
        String before = spaceInfo("b/");
        for (String wrong : new String[] {
            "max-values 4 no-such 1",
            "max-values 4 max-bytes",
            "max-values -1",
            "max-values 4 max-bytes 9007199254740992",
            "max-values many",
            "max-values 0"
        }) {
            client.fails("ERR ", ("CARAVAN.SPACE SET b/ " + wrong).split(" "));
        }
        for (String wrong : new String[] {
            "",
            "{}",
            "[]",
            "{\"max-values\": 1.5}",
            "{\"max-values\": \"4\"}",
            "{\"max-values\": 4, \"max-values\": 5}",
            "{\"max-values\": 4} 5",
            "{\"no-such\": 4}",
            "{\"max-values\": 4",
            "{\"max-values\": 99999999999999999999}",
            "{\"max-values\": {\"max-values\": 4}}"
        }) {
            assertThat(server.http("PUT", "/v1/spaces/b/", wrong).statusCode())
                    .as(wrong)
                    .isEqualTo(400);
        }
        assertThat(spaceInfo("b/")).isEqualTo(before);
        assertThat(client.call("CARAVAN.SPACE", "SET", "", "max-values", "3"))
                .startsWith("-ERR a space's prefix must have 1 to 256 bytes");
        assertThat(client.call("CARAVAN.SPACE", "SET", "p".repeat(257), "max-values", "3"))
                .startsWith("-ERR a space's prefix must have 1 to 256 bytes, has 257");
        assertThat(server.http("PUT", "/v1/spaces/", "{\"max-values\": 4}").statusCode())
                .isEqualTo(400);
    }

    @Test
    void enforcesSizeLimitsOverBothProtocols() throws Exception {
        client.call("CARAVAN.SPACE", "SET", "size/", "max-value-bytes", "4", "max-values", "2", "max-bytes", "6");
        String tooLarge = "-TOOLARGE document 'size/d' cannot ";
        String value = tooLarge + "have a value of 5 bytes: its space 'size/' has max-value-bytes 4";
        replies(value, "RPUSH", "size/d", "12345");
        replies(":0", "EXISTS", "size/d");
        replies(":2", "RPUSH", "size/d", "1", "2");
        replies(tooLarge + "have 3 values: its space 'size/' has max-values 2", "RPUSH", "size/d", "3");
        assertRejected(server.http("POST", "/v1/stream/size/d", "3"), 413, "too_large");
        assertRejected(server.http("PUT", "/v1/stream/size/e", "12345"), 413, "too_large");
        assertThat(server.http("HEAD", "/v1/stream/size/e", "").statusCode()).isEqualTo(404);
        assertThat(server.http("PUT", "/v1/stream/size/f", "1234").statusCode()).isEqualTo(201);
        String seven = "TOOLARGE document 'size/f' cannot have 7 bytes: its space 'size/' has max-bytes 6";
        client.fails(seven, "RPUSH", "size/f", "567");
        replies("[$1, $2]", "LRANGE", "size/d", "0", "-1");
    }

    @Test
    void rejectsEntireTransactionOrBatch() throws Exception {
        client.call("CARAVAN.SPACE", "SET", "whole/", "max-values", "1");
        replies("+OK", "MULTI");
        replies("+QUEUED", "RPUSH", "outside", "a");
        replies("+QUEUED", "RPUSH", "whole/d", "a", "b");
        assertThat(client.call("EXEC")).startsWith("-TOOLARGE ");
        replies(":0", "EXISTS", "outside", "whole/d");
        String batch = "{\"operations\": [{\"path\": \"/v1/stream/outside\", \"append\": [\"a\"]},"
                + " {\"path\": \"/v1/stream/whole/d\", \"append\": [\"a\", \"b\"]}]}";
        assertThat(server.http("POST", "/v1/batch", batch).statusCode()).isNotEqualTo(200);
        replies(":0", "EXISTS", "outside", "whole/d");
        // A transaction may append a new value if it trims all earlier ones.
        replies(":1", "RPUSH", "whole/d", "a");
        replies("+OK", "MULTI");
        replies("+QUEUED", "RPUSH", "whole/d", "b");
        replies("+QUEUED", "LTRIM", "whole/d", "-1", "-1");
        assertThat(client.call("EXEC")).startsWith("[");
        replies("[$b]", "LRANGE", "whole/d", "0", "-1");
    }

    @Test
    void trimsOldestValuesOverBothProtocols() throws Exception {
        client.call("CARAVAN.SPACE", "SET", "keep/", "retain-values", "2", "retain-bytes", "5");
        client.call("RPUSH", "keep/d", "1", "2", "3");
        replies("[$2, $3]", "LRANGE", "keep/d", "0", "-1");
        assertThat(server.http("POST", "/v1/stream/keep/d", "4567").statusCode())
                .isEqualTo(204);
        replies("[$3, $4567]", "LRANGE", "keep/d", "0", "-1");
        client.call("RPUSH", "keep/d", "89");
        replies("[$89]", "LRANGE", "keep/d", "0", "-1");
        assertThat(spaceInfo("keep/")).contains("$retention-trimmed-values, :4");
    }

    @Test
    void reportsExceededQuotaAndRate() throws Exception {
        client.call("CARAVAN.SPACE", "SET", "quota/", "quota-bytes", "2", "quota-documents", "2");
        replies(":2", "RPUSH", "quota/d", "1", "2");
        String overQuota =
                "-QUOTA document 'quota/d' rejects the write: its space 'quota/' would exceed its quota-bytes"
                        + " of 2; trim or delete documents of the space";
        replies(overQuota, "RPUSH", "quota/d", "3");
        assertRejected(server.http("POST", "/v1/stream/quota/d", "3"), 507, "over_quota");
        assertThat(server.http("PUT", "/v1/stream/quota/e", "").statusCode()).isEqualTo(201);
        assertRejected(server.http("PUT", "/v1/stream/quota/f", ""), 507, "over_quota");
        replies("+OK", "LTRIM", "quota/d", "1", "-1");
        replies(":2", "RPUSH", "quota/d", "3");

        // Every machine exceeds this rate.
        client.call("CARAVAN.SPACE", "SET", "rate/", "bytes-per-second", "1");
        replies(":1", "RPUSH", "rate/d", "v".repeat(90_000));
        assertThat(client.call("RPUSH", "rate/d", "v"))
                .matches("-RATELIMITED document 'rate/d' rejects the write: its space 'rate/' exceeds its rate;"
                        + " try again in [0-9]{8} ms");
        HttpResponse<String> limited = server.http("POST", "/v1/stream/rate/d", "v");
        assertRejected(limited, 429, "rate_limited");
        assertThat(limited.headers().firstValue("Retry-After").orElse("")).matches("[0-9]{5}");
        replies(":1", "LLEN", "rate/d");
        client.call("CARAVAN.SPACE", "SET", "rate/", "bytes-per-second", "0", "max-values", "9");
        replies(":2", "RPUSH", "rate/d", "v");
    }

    @Test
    void reportsSpaceMetricsForAnyPrefix() throws Exception {
        String hostile = "met\"rics\n} 1\\";
        client.call("CARAVAN.SPACE", "SET", hostile, "quota-bytes", "7", "max-value-bytes", "2");
        client.call("RPUSH", hostile + "d", "12");
        client.call("RPUSH", hostile + "d", "123");
        String metrics = server.get("/metrics");
        String label = "{prefix=\"met\\\"rics\\\\n} 1\\\\\\\\\"}";
        for (Map.Entry<String, String> metric : Map.of(
                        "documents", "1.0",
                        "bytes", "2.0",
                        "quota_bytes", "7.0",
                        "quota_documents", "0.0",
                        "writes", "1.0",
                        "written_bytes", "2.0",
                        "retention_trimmed_values", "0.0",
                        "rejected_sizes", "1.0",
                        "rejected_quotas", "0.0",
                        "rejected_rates", "0.0")
                .entrySet()) {
            assertThat(metrics.lines()).contains("caravan_space_" + metric.getKey() + label + " " + metric.getValue());
        }
        assertThat(client.call("INFO")).contains("# Spaces\r\nspaces:").contains("\r\nspaces_rejected_sizes:");
        String path = "/v1/spaces/" + URLEncoder.encode(hostile, UTF_8).replace("+", "%20");
        assertThat(server.get(path)).contains("\"documents\":1");
        assertThat(server.http("DELETE", path, "").statusCode()).isEqualTo(204);
        assertThat(server.get("/metrics")).doesNotContain("rics\\\\n}");
    }

    @Test
    void rejectsArchiveSettingsWithoutArchive() throws Exception {
        String noArchive = "ERR archive-after cannot be set here: the server has no archive; start it with --archive";
        client.fails(noArchive, "CARAVAN.SPACE", "SET", "archived/", "archive-after", "60");
        assertThat(client.call("CARAVAN.SPACE", "SET", "archived/", "archive-after", "0", "max-values", "1"))
                .startsWith("[$prefix, $archived/, $max-values, :1");
        for (String setting : List.of("archive-keep", "archive-keep-days", "archive-keep-daily")) {
            String rejection = "ERR " + setting + " cannot be set here: the server has no archive";
            client.fails(rejection, "CARAVAN.SPACE", "SET", "archived/", setting, "2");
        }
        assertThat(client.call("CARAVAN.SPACE", "SET", "archived/", "archive-keep", "1000001"))
                .startsWith("-ERR archive-keep must be from 1 to 1000000, or 0 to unset it, was 1000001");
        HttpResponse<String> response = server.http("PUT", "/v1/spaces/archived/", "{\"archive-after\": 60}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
        assertThat(response.body()).contains("archive-after cannot be set here");
        assertThat(client.call("CARAVAN.SPACE", "REMOVE", "archived/")).isEqualTo(":1");
    }
}
