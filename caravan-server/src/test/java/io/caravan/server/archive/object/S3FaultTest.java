package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.caravan.server.archive.S3Server;
import io.caravan.server.archive.object.ObjectStore.Stored;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.object.S3Calls.S3Timeouts;
import io.caravan.server.archive.object.S3Upload.S3Parts;
import io.caravan.testing.CannedResponse;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultProxy;
import io.caravan.testing.FaultProxy.Way;
import io.caravan.testing.LongTimeout;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Tests calls to an S3 server behind a proxy that injects faults. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
@LongTimeout
class S3FaultTest {
    private static final int ATTEMPTS = 3;
    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final Duration IDLE = Duration.ofSeconds(1);
    /** The maximum time that a server on a busy machine takes to respond. */
    private static final Duration PATIENT = Duration.ofSeconds(10);

    private static final S3Timeouts SHORT = new S3Timeouts(CONNECT, PATIENT, PATIENT, 4 << 20, ATTEMPTS);
    /** Timeouts that detect a stalled transfer quickly. */
    private static final S3Timeouts HURRIED = new S3Timeouts(CONNECT, IDLE, PATIENT, 4 << 20, ATTEMPTS);
    /** Timeouts that allow a single attempt and detect a failed connection quickly. */
    private static final S3Timeouts ONCE = new S3Timeouts(IDLE, PATIENT, PATIENT, 4 << 20, 1);
    /** Timeouts for a single, short attempt. */
    private static final S3Timeouts IMPATIENT = new S3Timeouts(CONNECT, IDLE, Duration.ofMillis(500), 64 << 20, 1);

    private static final String UNKNOWN_LENGTH = "ETag: \"1\"\r\nTransfer-Encoding: chunked";

    /** The length of an object that is uploaded in three parts. */
    private static final int LARGE_BYTES = 17 << 20;

    private static final int MAX_BYTES = 64 << 20;
    private static final int ALWAYS = Integer.MAX_VALUE;

    private S3Server server;
    private FaultProxy proxy;
    private ObjectStore store;

    @BeforeEach
    void startServer() throws Exception {
        server = S3Server.start();
        proxy = FaultProxy.before(server.port());
        store = open(SHORT);
    }

    @AfterEach
    void stopServer() throws Exception {
        store.close();
        proxy.close();
        server.close();
    }

    private ObjectStore open(S3Timeouts timeouts) {
        return open(S3Server.BUCKET, S3Server.ACCESS_KEY, S3Server.SECRET_KEY, timeouts, S3Parts.DEFAULT);
    }

    private ObjectStore open(String bucket, String accessKey, String secretKey) {
        return open(bucket, accessKey, secretKey, SHORT, S3Parts.DEFAULT);
    }

    private ObjectStore open(String bucket, String accessKey, String secretKey, S3Timeouts timeouts, S3Parts parts) {
        AwsCredentialsProvider credentials =
                StaticCredentialsProvider.create(AwsBasicCredentials.create(accessKey, secretKey));
        return S3ObjectStore.open(bucket, "prefix/", S3Server.through(proxy.port()), credentials, timeouts, parts);
    }

    @Test
    void reportsMissingBucket() {
        try (ObjectStore wrong = open("nobody-has-this", S3Server.ACCESS_KEY, S3Server.SECRET_KEY)) {
            ThrowingCallable[] calls = {
                () -> wrong.get("a", MAX_BYTES),
                () -> wrong.open("a"),
                () -> wrong.put("a", out -> out.write(1)),
                () -> wrong.putIf("a", bytes("x"), null),
                () -> wrong.list("").count()
            };
            for (ThrowingCallable call : calls) {
                assertThat(thrown(Kind.NOT_FOUND, call))
                        .hasMessageContaining("s3://nobody-has-this/prefix")
                        .hasMessageContaining("there is no such bucket");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"nobody, " + S3Server.SECRET_KEY, S3Server.ACCESS_KEY + ", not-the-secret-key"})
    void reportsWrongCredentials(String accessKey, String secretKey) {
        try (ObjectStore wrong = open(S3Server.BUCKET, accessKey, secretKey)) {
            assertThat(thrown(Kind.DENIED, () -> wrong.get("a", MAX_BYTES)))
                    .hasMessageContaining("check the credentials")
                    .hasMessageNotContaining(secretKey);
            thrown(Kind.DENIED, () -> wrong.put("a", out -> out.write(1)));
            thrown(Kind.DENIED, () -> wrong.list("").count());
            thrown(Kind.DENIED, () -> wrong.put("a", out -> out.write(content())));
        }
    }

    @Test
    void reportsDeniedCallAndAllowsOthers() {
        put("a", bytes("old"));
        proxy.response(
                ALWAYS,
                line -> line.startsWith("PUT "),
                CannedResponse.s3(403, "AccessDenied", "User is not authorized to perform: s3:PutObject"));
        assertThat(thrown(Kind.DENIED, () -> put("a", bytes("new"))))
                .hasMessageContaining("PutObject of 'a' in s3://caravan/prefix")
                .hasMessageContaining("do not permit")
                .hasMessageContaining("AccessDenied");
        thrown(Kind.DENIED, () -> store.putIf("b", bytes("new"), null));
        assertThat(text("a")).isEqualTo("old");
        store.delete("a");
    }

    @Test
    void reportsWrongClock() {
        proxy.response(ALWAYS, CannedResponse.s3(403, "RequestTimeTooSkewed", "The difference is too large"));
        assertThat(thrown(Kind.DENIED, () -> store.get("a", MAX_BYTES)))
                .hasMessageContaining("check the clock")
                .hasMessageContaining("RequestTimeTooSkewed");
    }

    /** A 404 status alone must not count as a missing object, because a proxy that reaches no server returns it too. */
    @Test
    void statusAloneDoesNotMeanMissingObject() {
        put("a", bytes("x"));
        proxy.response(ALWAYS, new CannedResponse(404, "Content-Type: text/plain", "no such route"));
        try (ObjectStore once = open(ONCE)) {
            thrown(Kind.UNAVAILABLE, () -> once.get("a", MAX_BYTES));
            thrown(Kind.UNAVAILABLE, () -> once.open("a"));
            thrown(Kind.UNAVAILABLE, () -> once.putIf("a", bytes("y"), "\"1\""));
        }
        proxy.pass();
        assertThat(text("a")).isEqualTo("x");
        assertThat(store.get("b", MAX_BYTES)).isNull();
    }

    @Test
    void rejectsIncompleteListWithoutToken() {
        proxy.response(
                ALWAYS,
                new CannedResponse(
                        200,
                        "Content-Type: application/xml",
                        "<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>prefix/a</Key><Size>1</Size>"
                                + "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents></ListBucketResult>"));
        assertThat(thrown(Kind.CORRUPT, () -> store.list("").count()))
                .hasMessageContaining("returns no continuation token");
    }

    @Test
    void mapsErrorResponsesToKinds() {
        try (ObjectStore once = open(ONCE)) {
            once.putIf("first", bytes("x"), null);
            for (String response : List.of(
                    "400 XInvalid CORRUPT",
                    "400 BadDigest UNAVAILABLE",
                    "403 Other DENIED",
                    "409 ConditionalRequestConflict CONFLICT",
                    "409 OperationAborted UNAVAILABLE",
                    "412 PreconditionFailed CONFLICT",
                    "429 TooManyRequests UNAVAILABLE",
                    "500 InternalError UNAVAILABLE",
                    "501 NotImplemented CORRUPT",
                    "503 SlowDown UNAVAILABLE",
                    "507 InsufficientStorage FULL")) {
                String[] parts = response.split(" ");
                proxy.response(ALWAYS, CannedResponse.s3(Integer.parseInt(parts[0]), parts[1], "said so"));
                assertThat(thrown(Kind.valueOf(parts[2]), () -> once.putIf(parts[1], bytes("x"), null)))
                        .hasMessageContaining("PutObject of '" + parts[1]
                                + "' in s3://caravan/prefix at http://127.0.0.1:" + proxy.port())
                        .hasMessageContaining(parts[0] + " " + parts[1])
                        .hasMessageContaining("said so");
                proxy.pass();
                once.putIf(parts[1], bytes("x"), null);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"500", "503"})
    void retriesTemporaryServerErrors(int status) {
        proxy.response(ATTEMPTS - 1, new CannedResponse(status, "Retry-After: 0", ""));
        put("a", bytes("x"));
        assertThat(proxy.responded()).isEqualTo(ATTEMPTS - 1);
        assertThat(text("a")).isEqualTo("x");
    }

    @Test
    void limitsRetriesOfPersistentServerErrors() {
        proxy.response(ALWAYS, CannedResponse.of(500));
        thrown(Kind.UNAVAILABLE, () -> put("a", bytes("x")));
        assertThat(proxy.responded()).isEqualTo(ATTEMPTS);
    }

    @Test
    void reportsStoppedServerUntilRestart() throws Exception {
        put("a", bytes("x"));
        server.stop();
        thrown(Kind.UNAVAILABLE, () -> store.get("a", MAX_BYTES));
        thrown(Kind.UNAVAILABLE, () -> store.list("").count());
        server.restart();
        assertThat(text("a")).isEqualTo("x");
    }

    @Test
    void reportsUnreachableServer() throws Exception {
        proxy.close();
        // The SDK either reports the refused connection or waits for a connection until the timeout.
        try (ObjectStore once = open(ONCE)) {
            assertThat(thrown(Kind.UNAVAILABLE, () -> once.get("a", MAX_BYTES)))
                    .hasMessageFindingMatch(
                            "(no server listens at this address|no connection in time): check the server and the"
                                    + " endpoint|no response in time");
        }
    }

    @Test
    void timesOutIfServerNeverResponds() {
        proxy.swallow();
        try (ObjectStore impatient = open(IMPATIENT)) {
            ThrowingCallable[] calls = {
                () -> impatient.get("a", 10),
                () -> impatient.open("a"),
                () -> impatient.put("a", out -> out.write(1)),
                () -> impatient.list("").count(),
                () -> impatient.delete("a")
            };
            for (ThrowingCallable call : calls) {
                assertThat(thrown(Kind.UNAVAILABLE, call)).hasMessageContaining("no response in time");
            }
        }
        proxy.pass();
        put("a", bytes("x"));
        assertThat(text("a")).isEqualTo("x");
    }

    @Test
    void retriesIfServerNeverResponds() {
        proxy.swallow();
        try (ObjectStore hurried = open(HURRIED)) {
            thrown(Kind.UNAVAILABLE, () -> hurried.get("a", 10));
        }
        assertThat(proxy.accepted()).isEqualTo(ATTEMPTS);
    }

    @Test
    void timesOutIfServerIsTooSlow() {
        proxy.throttle(50_000);
        try (ObjectStore impatient = open(IMPATIENT)) {
            thrown(Kind.UNAVAILABLE, () -> impatient.put("b", out -> out.write(content())));
        }
        proxy.pass();
        assertThat(store.get("b", MAX_BYTES)).isNull();
    }

    @Test
    void retriesTruncatedSmallResponse() {
        put("a", bytes("x".repeat(10_000)));
        proxy.cut(Way.RESPONSES, 1, 5_000);
        assertThat(text("a")).hasSize(10_000);
        assertThat(proxy.cut()).isEqualTo(1);
    }

    @Test
    void failsStalledStream() throws IOException {
        put("a", content());
        try (ObjectStore hurried = open(HURRIED);
                InputStream in = hurried.open("a")) {
            assertThat(in.readNBytes(1000)).hasSize(1000);
            proxy.swallow();
            assertThat(thrown(Kind.UNAVAILABLE, in::readAllBytes)).hasMessageContaining("GetObject of 'a'");
        }
    }

    @Test
    void resumesInterruptedStream() throws IOException {
        byte[] content = content();
        put("a", content);
        proxy.cut(Way.RESPONSES, 3, LARGE_BYTES / 5);
        try (InputStream in = store.open("a")) {
            assertThat(in.readAllBytes()).isEqualTo(content);
        }
        assertThat(proxy.cut()).isEqualTo(3);
    }

    @Test
    void failsRepeatedlyInterruptedStream() throws IOException {
        put("a", content());
        try (InputStream in = store.open("a")) {
            assertThat(in.readNBytes(1000)).hasSize(1000);
            proxy.cut(Way.RESPONSES, ALWAYS, 0);
            thrown(Kind.UNAVAILABLE, in::readAllBytes);
        }
    }

    /** A response with the whole object must not be taken for the rest of it. */
    @Test
    void doesNotResumeStreamOfServerThatIgnoresRange() throws Exception {
        put("a", content());
        try (ObjectStore hurried = open(HURRIED);
                InputStream in = hurried.open("a")) {
            assertThat(in.readNBytes(1000)).hasSize(1000);
            proxy.response(ALWAYS, new CannedResponse(200, "ETag: \"1\"", "x".repeat(1 << 20)));
            assertThat(new CountDownLatch(1).await(2 * IDLE.toMillis(), TimeUnit.MILLISECONDS))
                    .isFalse();
            assertThat(thrown(Kind.UNAVAILABLE, in::readAllBytes)).hasMessageContaining("ignores Range");
        }
    }

    @Test
    void doesNotResumeStreamOfReplacedObject() throws IOException {
        put("a", content());
        try (InputStream in = store.open("a")) {
            assertThat(in.readNBytes(1000)).hasSize(1000);
            put("a", bytes("other"));
            proxy.cut(Way.RESPONSES, 1, 0);
            thrown(Kind.CONFLICT, in::readAllBytes);
        }
    }

    @Test
    void slowStreamMayExceedCallTimeout() throws IOException {
        byte[] content = new byte[1 << 20];
        put("a", content);
        S3Timeouts once = new S3Timeouts(CONNECT, PATIENT, Duration.ofSeconds(2), 64 << 20, 1);
        proxy.throttle((1 << 20) * 2 / 5);
        long start = System.nanoTime();
        try (ObjectStore slow = open(once);
                InputStream in = slow.open("a")) {
            assertThat(in.readAllBytes()).isEqualTo(content);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(once.call(0));
    }

    /**
     * A slow put may take longer than the idle timeout if it makes progress. Bytes in the system's send buffer do not
     * count as progress.
     */
    @Test
    void slowPutMayExceedIdleTimeout() {
        S3Timeouts slow = new S3Timeouts(CONNECT, Duration.ofSeconds(4), PATIENT, 1 << 20, 1);
        S3Parts one = new S3Parts(LARGE_BYTES, 1, LARGE_BYTES, 1);
        try (ObjectStore patient = open(S3Server.BUCKET, S3Server.ACCESS_KEY, S3Server.SECRET_KEY, slow, one)) {
            proxy.throttle(LARGE_BYTES / 6);
            long start = System.nanoTime();
            patient.put("a", out -> out.write(content()));
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(slow.idle());
        }
        proxy.pass();
        assertThat(store.get("a", MAX_BYTES).content()).isEqualTo(content());
    }

    @Test
    void readsResponseOfUnknownLength() throws IOException {
        proxy.response(ALWAYS, new CannedResponse(200, UNKNOWN_LENGTH, "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n"));
        try (InputStream in = store.open("a")) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("abcde");
        }
        assertThat(new String(store.get("a", 5).content(), StandardCharsets.UTF_8))
                .isEqualTo("abcde");
        assertThat(thrown(Kind.CORRUPT, () -> store.get("a", 4))).hasMessageContaining("the maximum is 4");
    }

    @Test
    void readerCanPauseBetweenReads() throws Exception {
        put("a", content());
        try (ObjectStore hurried = open(HURRIED);
                InputStream in = hurried.open("a")) {
            assertThat(in.readNBytes(1000)).hasSize(1000);
            assertThat(new CountDownLatch(1).await(2 * IDLE.toMillis(), TimeUnit.MILLISECONDS))
                    .isFalse();
            assertThat(in.readAllBytes()).hasSize(LARGE_BYTES - 1000);
        }
    }

    @Test
    void conditionalPutWithLostResponseTakesEffect() {
        String tag = store.putIf("a", bytes("old"), null);
        proxy.cut(Way.RESPONSES, 1, 0);
        try {
            store.putIf("a", bytes("new"), tag);
        } catch (ObjectStoreException conflict) {
            assertThat(conflict.kind()).isEqualTo(Kind.CONFLICT);
        }
        assertThat(proxy.cut()).isEqualTo(1);
        Stored now = store.get("a", MAX_BYTES);
        assertThat(new String(now.content(), StandardCharsets.UTF_8)).isEqualTo("new");
        store.putIf("a", bytes("newest"), now.tag());
    }

    @Test
    void rejectsServerThatIgnoresConditions() {
        proxy.response(ALWAYS, line -> line.startsWith("PUT "), new CannedResponse(200, "ETag: \"1\"", ""));
        assertThat(thrown(Kind.CORRUPT, () -> store.putIf("a", bytes("x"), null)))
                .hasMessageContaining("ignores If-None-Match");
    }

    @Test
    void serverRestartDuringLongPutLeavesObjectIntact() throws Exception {
        put("a", bytes("old"));
        proxy.throttle(20 << 20);
        CompletableFuture<Void> put = CompletableFuture.runAsync(() -> put("a", content()));
        long before = proxy.forwardedBytes();
        Eventually.await("parts are on their way", () -> proxy.forwardedBytes() > before + LARGE_BYTES / 3);
        server.stop();
        proxy.reject();
        server.restart();
        proxy.pass();
        boolean done = isDone(put);
        byte[] there = store.get("a", MAX_BYTES).content();
        // A put whose last response was lost may or may not have succeeded.
        assertThat(there).isIn(content(), done ? content() : bytes("old"));
        put("a", content());
        assertThat(store.get("a", MAX_BYTES).content()).isEqualTo(content());
    }

    private static boolean isDone(CompletableFuture<Void> put) {
        try {
            put.join();
            return true;
        } catch (CompletionException failed) {
            ObjectStoreException problem = (ObjectStoreException) failed.getCause();
            assertThat(problem.kind()).isEqualTo(Kind.UNAVAILABLE);
            return false;
        }
    }

    @Test
    void failedLargePutIsAborted() {
        put("a", bytes("old"));
        proxy.response(ALWAYS, line -> line.contains("partNumber=3&"), CannedResponse.s3(403, "AccessDenied", "no"));
        thrown(Kind.DENIED, () -> put("a", content()));
        assertThat(server.blobs().listMultipartUploads(S3Server.BUCKET)).isEmpty();
        assertThat(text("a")).isEqualTo("old");
    }

    /** A failed put must throw its own exception; if the abort also fails, that failure must be added as suppressed. */
    @Test
    void failedAbortIsReportedAsSuppressed() {
        proxy.response(
                ALWAYS,
                line -> line.contains("partNumber=3&") || line.startsWith("DELETE "),
                CannedResponse.s3(403, "AccessDenied", "no"));
        ObjectStoreException both = thrown(Kind.DENIED, () -> put("a", content()));
        assertThat(both).hasMessageContaining("UploadPart");
        assertThat(both.getSuppressed())
                .singleElement()
                .satisfies(also -> assertThat(also).hasMessageContaining("AbortMultipartUpload"));
    }

    private void put(String key, byte[] content) {
        store.put(key, out -> out.write(content));
    }

    private String text(String key) {
        return new String(store.get(key, MAX_BYTES).content(), StandardCharsets.UTF_8);
    }

    private static ObjectStoreException thrown(Kind kind, ThrowingCallable call) {
        ObjectStoreException thrown = catchThrowableOfType(ObjectStoreException.class, call);
        assertThat(thrown).isNotNull();
        assertThat(thrown.kind()).as(thrown.getMessage()).isEqualTo(kind);
        return thrown;
    }

    private static byte[] content() {
        byte[] content = new byte[LARGE_BYTES];
        new SplittableRandom(LARGE_BYTES).nextBytes(content);
        return content;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
