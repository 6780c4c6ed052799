package io.caravan.server.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Listed;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.testing.CannedResponse;
import io.caravan.testing.FaultProxy;
import io.caravan.testing.LongTimeout;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that S3 servers are rejected if they lack the conditional requests that owners use to detect each other. */
@LongTimeout
class ArchiveConditionsTest {
    private static final UUID STORE = new UUID(1, 2);

    private static final CannedResponse PUT = new CannedResponse(200, "ETag: \"1\"", "");
    private static final CannedResponse DELETED = CannedResponse.of(204);
    private static final CannedResponse FAILED = CannedResponse.s3(
            412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold");

    /** Faults of an S3 server. Each has the method and the start of the header that the server does not support. */
    private enum Fault {
        IGNORES_IF_NONE_MATCH("PUT", "if-none-match: *", PUT),
        IGNORES_IF_MATCH("PUT", "if-match: \"0000", PUT),
        REJECTS_IF_NONE_MATCH("PUT", "if-none-match: *", FAILED),
        /** Compares ETags in quotation marks with ETags without them, and therefore never finds a match. */
        REJECTS_IF_MATCH("PUT", "if-match: \"", FAILED),
        IGNORES_IF_MATCH_OF_DELETIONS("DELETE", "if-match: \"0000", DELETED),
        REJECTS_IF_MATCH_OF_DELETIONS("DELETE", "if-match: \"", FAILED);

        private final String method;
        private final String header;
        private final CannedResponse response;

        Fault(String method, String header, CannedResponse response) {
            this.method = method;
            this.header = header;
            this.response = response;
        }

        void at(FaultProxy proxy) {
            proxy.responseHeads(
                    Integer.MAX_VALUE,
                    head -> head.startsWith(method)
                            && head.toLowerCase(Locale.ROOT).contains("\r\n" + header),
                    response);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "IGNORES_IF_NONE_MATCH, ignores If-None-Match",
        "IGNORES_IF_MATCH, ignores If-Match",
        "REJECTS_IF_NONE_MATCH, this server is at fault: it rejects a correct If-None-Match",
        "REJECTS_IF_MATCH, this server is at fault: it rejects a correct If-Match"
    })
    void doesNotClaimArchiveWithoutWorkingConditions(Fault fault, String messagePart) throws Exception {
        try (S3Server server = S3Server.start();
                FaultProxy proxy = FaultProxy.before(server.port());
                ObjectStore objects =
                        ObjectStores.place(S3Server.url("archive")).open(S3Server.through(proxy.port()))) {
            fault.at(proxy);
            for (int time = 0; time < 2; time++) {
                assertThatThrownBy(() -> claim(objects))
                        .isInstanceOfSatisfying(
                                ObjectStoreException.class,
                                rejected -> assertThat(rejected.kind()).isEqualTo(Kind.CORRUPT))
                        .hasMessageContaining(messagePart);
            }
            proxy.pass();
            assertThat(keys(objects)).isEmpty();
        }
    }

    /** An archive must work on a server that lacks conditional deletes, and such deletes must then have no effect. */
    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"IGNORES_IF_MATCH_OF_DELETIONS", "REJECTS_IF_MATCH_OF_DELETIONS"})
    void conditionalDeleteDeletesNothingIfUnsupported(Fault fault) throws Exception {
        try (S3Server server = S3Server.start();
                FaultProxy proxy = FaultProxy.before(server.port());
                ObjectStore objects =
                        ObjectStores.place(S3Server.url("archive")).open(S3Server.through(proxy.port()))) {
            fault.at(proxy);
            claim(objects).checkOwner();
            assertThat(keys(objects)).containsExactly("archive.json");
            String tag = objects.putIf("manifests/a", new byte[] {1}, null);
            assertThat(objects.deleteIf("manifests/a", tag)).isFalse();
            assertThat(objects.get("manifests/a", 1)).isNotNull();
            objects.delete("manifests/a");
            assertThat(objects.get("manifests/a", 1)).isNull();
        }
    }

    @Test
    void claimSucceedsWithoutDeletePermission() throws Exception {
        try (S3Server server = S3Server.start();
                FaultProxy proxy = FaultProxy.before(server.port());
                ObjectStore objects =
                        ObjectStores.place(S3Server.url("archive")).open(S3Server.through(proxy.port()))) {
            proxy.response(
                    Integer.MAX_VALUE,
                    line -> line.startsWith("DELETE "),
                    CannedResponse.s3(403, "AccessDenied", "User is not authorized to perform: s3:DeleteObject"));
            claim(objects).checkOwner();
            claim(objects).checkOwner();
            assertThat(proxy.responded())
                    .as("servers are checked once a store: a deletion on a condition, and that of the object")
                    .isEqualTo(2);
            assertThat(keys(objects)).contains("archive.json").hasSize(2);
        }
    }

    private static Archive claim(ObjectStore objects) {
        return Claims.claim(objects, STORE, "host/1", InstantSource.system());
    }

    private static List<String> keys(ObjectStore objects) {
        return objects.list("").map(Listed::key).toList();
    }
}
