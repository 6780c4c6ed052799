package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.object.S3Calls.S3Timeouts;
import io.caravan.server.archive.object.S3Upload.S3Parts;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.Arrays;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/**
 * An object store in a bucket, under a prefix. The AWS SDK handles retries, timeouts, and credentials. A tag is an S3
 * ETag, and conditions are S3's {@code If-Match} and {@code If-None-Match}.
 *
 * <p>If a process is killed during a large put, the parts that it has sent remain in the bucket, invisible, until the
 * server discards them. Configure the bucket to abort incomplete uploads after some days.
 */
public final class S3ObjectStore implements ObjectStore {
    private static final Logger LOG = LoggerFactory.getLogger(S3ObjectStore.class);

    /** The key prefix of temporary objects that this class uses to check whether the server supports conditions. */
    static final String SCRATCH = "conditions-";

    private static final byte[] SCRATCH_CONTENT = {'c'};
    private static final byte[] OTHER_SCRATCH_CONTENT = {'d'};

    /**
     * Maximum number of small parts that all large puts together may have in flight. One large part uses up this limit.
     */
    private static final int PARTS_ON_THEIR_WAY = 4;

    /** The time for which the threads keep running tasks after the client is closed, to close its connections. */
    private static final int QUIET_MILLIS = 500;

    private static final int END_MILLIS = 5_000;
    /** Maximum number of concurrent calls; further calls wait. */
    private static final int CONNECTIONS = 128;

    private static final int THREADS = 2;

    private final String location;
    private final S3Calls calls;
    private final S3Parts parts;
    private final EventLoopGroup threads;
    private final Semaphore onTheirWay = new Semaphore(PARTS_ON_THEIR_WAY, true);
    /**
     * Whether the server supports conditional deletions; null until its support for conditions has been checked.
     * Concurrent first calls may check it twice. A server that does not support conditional puts is rejected.
     */
    private volatile @Nullable Boolean conditionalDeletions;

    private S3ObjectStore(String location, S3Calls calls, S3Parts parts, EventLoopGroup threads) {
        this.location = location;
        this.threads = threads;
        this.calls = calls;
        this.parts = parts;
    }

    /** Opens a bucket. The prefix is empty, or has a slash at its end. */
    static S3ObjectStore open(
            String bucket,
            String prefix,
            S3Options options,
            AwsCredentialsProvider credentials,
            S3Timeouts timeouts,
            S3Parts parts) {
        String location = "s3://" + bucket + (prefix.isEmpty() ? "" : "/" + prefix.substring(0, prefix.length() - 1));
        URI endpoint = options.endpoint();
        S3Problems problems = new S3Problems(endpoint == null ? location : location + " at " + endpoint);
        EventLoopGroup threads = threads();
        try {
            S3AsyncClient client = client(options, credentials, timeouts, threads);
            return new S3ObjectStore(location, new S3Calls(client, bucket, prefix, timeouts, problems), parts, threads);
        } catch (SdkException rejected) {
            end(threads);
            throw new ObjectStoreException(
                    Kind.UNAVAILABLE,
                    "cannot open " + location + ": name its region, or check its options: "
                            + S3Problems.quoted(String.valueOf(rejected.getMessage())),
                    rejected);
        }
    }

    /** Creates the threads for a client. The SDK's own threads would take two seconds to end. */
    @SuppressWarnings("deprecation") // the SDK supports no newer kind
    static EventLoopGroup threads() {
        return new NioEventLoopGroup(THREADS, new DefaultThreadFactory("caravan-s3", true));
    }

    /** Creates a client that also works with servers other than Amazon's. The caller closes it, and then its threads. */
    static S3AsyncClient client(
            S3Options options, AwsCredentialsProvider credentials, S3Timeouts timeouts, EventLoopGroup threads) {
        S3AsyncClientBuilder builder = S3AsyncClient.builder()
                .httpClientBuilder(http(timeouts, threads))
                .credentialsProvider(credentials)
                .forcePathStyle(options.pathStyle())
                // Many servers support neither checksums at the end of a body nor Expect: 100-continue.
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                .serviceConfiguration(s3 -> s3.expectContinueEnabled(false))
                .overrideConfiguration(calls -> calls.retryStrategy(AwsRetryStrategy.standardRetryStrategy().toBuilder()
                                .maxAttempts(timeouts.attempts())
                                .build())
                        .apiCallAttemptTimeout(timeouts.attempt(0))
                        .apiCallTimeout(timeouts.call(0)));
        URI endpoint = options.endpoint();
        if (endpoint != null) {
            builder.endpointOverride(endpoint);
        }
        Region region = region(options.region(), endpoint);
        if (region != null) {
            builder.region(region);
        }
        return builder.build();
    }

    private static NettyNioAsyncHttpClient.Builder http(S3Timeouts timeouts, EventLoopGroup threads) {
        return NettyNioAsyncHttpClient.builder()
                .eventLoopGroup(SdkEventLoopGroup.create(threads, NioSocketChannel::new))
                .maxConcurrency(CONNECTIONS)
                .connectionTimeout(timeouts.connect())
                // The time until another call releases its connection, or a new one is established.
                .connectionAcquisitionTimeout(timeouts.connect().plus(timeouts.idle()))
                .readTimeout(timeouts.idle())
                .writeTimeout(timeouts.idle())
                .tcpKeepAlive(true);
    }

    /**
     * Returns the region, or null to let the SDK find it. With an endpoint, only the settings and the profile are
     * searched; the default is {@code us-east-1}.
     */
    private static @Nullable Region region(@Nullable String named, @Nullable URI endpoint) {
        if (named != null) {
            return Region.of(named);
        }
        if (endpoint == null) {
            return null;
        }
        try {
            return new AwsRegionProviderChain(
                            new SystemSettingsRegionProvider(),
                            new AwsProfileRegionProvider(ProfileFile::defaultProfileFile, null))
                    .getRegion();
        } catch (SdkClientException none) {
            return Region.US_EAST_1;
        }
    }

    @Override
    public String location() {
        return location;
    }

    @Override
    public @Nullable Stored get(String key, int maxBytes) {
        ObjectKeys.checked(key);
        try (S3Input in = new S3Input(calls, key)) {
            return new Stored(in.readWhole(maxBytes), tag("GetObject", key, in.tag()));
        } catch (ObjectStoreException failed) {
            if (S3Problems.isNoSuchObject(failed)) {
                return null;
            }
            throw failed;
        } catch (IOException failed) {
            throw calls.problems().problem("GetObject", key, failed);
        }
    }

    @Override
    public InputStream open(String key) {
        return new S3Input(calls, ObjectKeys.checked(key));
    }

    @Override
    public void put(String key, Content content) {
        S3Upload upload = new S3Upload(calls, ObjectKeys.checked(key), parts, onTheirWay);
        try (Closeable abort = upload::abort) {
            content.writeTo(upload);
            upload.finish();
        } catch (IOException failed) {
            throw calls.problems().problem("PutObject", key, failed);
        }
    }

    @Override
    public String putIf(String key, byte[] content, @Nullable String tag) {
        ObjectKeys.checked(key);
        conditionalDeletions();
        return tryPutIf(key, content, tag);
    }

    /** Checks once that the server supports conditions. Returns whether it supports those of deletions. */
    private boolean conditionalDeletions() {
        Boolean known = conditionalDeletions;
        if (known == null) {
            known = checkConditions();
            conditionalDeletions = known;
        }
        return known;
    }

    /**
     * Checks that the server handles conditions correctly, using an object that no other process uses. Some servers
     * ignore {@code If-Match} and {@code If-None-Match}: an archive there would not detect a second owner. Others
     * reject requests that meet their condition: an archive there could be claimed only once. The check precedes the
     * first conditional put, so if it fails, only its own object has been put.
     */
    private boolean checkConditions() {
        String key = SCRATCH + UUID.randomUUID();
        try {
            String tag = checkAccepted(key, SCRATCH_CONTENT, null, "If-None-Match", "although there was no object");
            checkRejected(key, null, "If-None-Match");
            checkRejected(key, otherThan(tag), "If-Match");
            String next = checkAccepted(
                    key,
                    OTHER_SCRATCH_CONTENT,
                    tag,
                    "If-Match",
                    "although the object had the ETag " + tag + ", which the server had returned");
            return keepsConditionOfDeletion(key, next);
        } finally {
            removeIfPermitted(key);
        }
    }

    /**
     * Puts content under a condition that holds, and checks that the server accepts the put. A conflict may be due to
     * the client's retry of a put that took place.
     */
    private String checkAccepted(String key, byte[] content, @Nullable String tag, String condition, String although) {
        try {
            return tryPutIf(key, content, tag);
        } catch (ObjectStoreException rejected) {
            if (rejected.kind() != Kind.CONFLICT) {
                throw rejected;
            }
            Stored now = get(key, content.length);
            if (now != null && Arrays.equals(now.content(), content)) {
                return now.tag();
            }
            String why = "this server is at fault: it rejects a correct " + condition + ", " + although
                    + ", so an archive could never be changed: correct the server, or use another one";
            throw calls.problems().of(Kind.CORRUPT, "PutObject", key, why, rejected);
        }
    }

    /** Whether the server rejects the deletion of a changed object, and deletes an unchanged one. */
    private boolean keepsConditionOfDeletion(String key, String tag) {
        ObjectStoreException changed = rejection(() -> calls.delete(key, otherThan(tag)));
        boolean keeps = changed != null && changed.kind() == Kind.CONFLICT;
        if (keeps) {
            ObjectStoreException unchanged = rejection(() -> calls.delete(key, tag));
            // A retry by the client finds no object.
            keeps = unchanged == null || S3Problems.isNoSuchObject(unchanged);
        }
        if (!keeps) {
            LOG.warn(
                    "{} ignores conditions of deletions (If-Match of DeleteObject), or does not permit deletions:"
                            + " the manifests of documents that were deleted long ago stay in the archive",
                    location);
        }
        return keeps;
    }

    private void checkRejected(String key, @Nullable String wrongTag, String condition) {
        ObjectStoreException rejected = rejection(() -> tryPutIf(key, SCRATCH_CONTENT, wrongTag));
        if (rejected == null) {
            String why = "this server ignores " + condition
                    + ", so two servers could write to the same archive: use another one";
            throw calls.problems().of(Kind.CORRUPT, "PutObject", key, why, null);
        }
        if (rejected.kind() != Kind.CONFLICT) {
            throw rejected;
        }
    }

    /**
     * Returns the server's reason to reject a call, or null. Throws if there was no response, because the server's support
     * for conditions is then unknown.
     */
    private static @Nullable ObjectStoreException rejection(Runnable call) {
        try {
            call.run();
            return null;
        } catch (ObjectStoreException rejected) {
            if (rejected.kind() == Kind.UNAVAILABLE) {
                throw rejected;
            }
            return rejected;
        }
    }

    /** Returns a different tag of the same form. */
    private static String otherThan(String tag) {
        String zeros = "\"" + "0".repeat(32) + "\"";
        return tag.equals(zeros) ? zeros.replace('0', '1') : zeros;
    }

    /** Deletes an object and ignores errors, because deletion may be forbidden, and a leftover object is harmless. */
    private void removeIfPermitted(String key) {
        try {
            calls.delete(key, null);
        } catch (ObjectStoreException stays) {
            LOG.debug("cannot delete an object of the check for conditions", stays);
        }
    }

    private String tryPutIf(String key, byte[] content, @Nullable String tag) {
        try {
            PutObjectResponse put = calls.put(key, content, tag == null ? "*" : null, tag);
            return tag("PutObject", key, put.eTag());
        } catch (ObjectStoreException failed) {
            throw tag == null ? failed : conflictIfDeleted("PutObject", key, failed);
        }
    }

    @Override
    public Stream<Listed> list(String prefix) {
        ListObjectsV2Request request = ListObjectsV2Request.builder()
                .bucket(calls.bucket())
                .prefix(calls.inBucket(ObjectKeys.checkedDirectory(prefix)))
                .build();
        return Stream.iterate(page(prefix, request), Objects::nonNull, page -> pageAfter(page, prefix, request))
                .flatMap(page -> page.contents().stream())
                .map(object -> new Listed(
                        object.key().substring(calls.prefix().length()),
                        object.size(),
                        object.lastModified().toEpochMilli()))
                // Skips objects whose keys cannot belong to an archive.
                .filter(listed -> ObjectKeys.isKey(listed.key()));
    }

    private ListObjectsV2Response page(String prefix, ListObjectsV2Request request) {
        return calls.await("ListObjectsV2", prefix, calls.client().listObjectsV2(request));
    }

    /** Returns the next page of a list, or null after the last page. */
    private @Nullable ListObjectsV2Response pageAfter(
            ListObjectsV2Response page, String prefix, ListObjectsV2Request request) {
        if (!Boolean.TRUE.equals(page.isTruncated())) {
            return null;
        }
        String continuation = page.nextContinuationToken();
        if (continuation == null) {
            String why = "the server has more objects but returns no continuation token: it does not support"
                    + " version 2 of this call";
            throw calls.problems().of(Kind.CORRUPT, "ListObjectsV2", prefix, why, null);
        }
        return page(prefix, request.toBuilder().continuationToken(continuation).build());
    }

    @Override
    public void delete(String key) {
        calls.delete(ObjectKeys.checked(key), null);
    }

    @Override
    public boolean deleteIf(String key, String tag) {
        ObjectKeys.checked(key);
        if (!conditionalDeletions()) {
            return false;
        }
        try {
            calls.delete(key, tag);
            return true;
        } catch (ObjectStoreException failed) {
            throw conflictIfDeleted("DeleteObject", key, failed);
        }
    }

    /** Returns the problem of a call whose condition requires an object. */
    private ObjectStoreException conflictIfDeleted(String call, String key, ObjectStoreException failed) {
        return S3Problems.isNoSuchObject(failed)
                ? calls.problems().of(Kind.CONFLICT, call, key, "it was deleted concurrently", failed)
                : failed;
    }

    /** Returns the tag of a response, which must have one. */
    private String tag(String call, String key, @Nullable String tag) {
        if (tag == null || tag.isEmpty()) {
            String why = "the server returns no ETag, which an archive needs to detect changes";
            throw calls.problems().of(Kind.CORRUPT, call, key, why, null);
        }
        return tag;
    }

    @Override
    public void close() {
        calls.client().close();
        end(threads);
    }

    private static void end(EventLoopGroup threads) {
        threads.shutdownGracefully(QUIET_MILLIS, END_MILLIS, TimeUnit.MILLISECONDS);
    }
}
