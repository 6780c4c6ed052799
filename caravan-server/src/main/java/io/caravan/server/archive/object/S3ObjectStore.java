package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.object.S3Calls.S3Timeouts;
import io.caravan.server.archive.object.S3Upload.S3Parts;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Objects in a bucket, below a prefix. Retries, timeouts and credentials are the AWS SDK's; a tag is S3's own.
 *
 * <p>What a process that is killed in a large put has sent stays in the bucket, where nobody sees it, until the server
 * forgets it: give the bucket a rule that ends incomplete uploads after some days.
 */
public final class S3ObjectStore implements ObjectStore {
    /**
     * How much of large puts is on its way at a time, for all of them together, in small parts; a large one is as much.
     */
    private static final int PARTS_ON_THEIR_WAY = 4;

    /** The client's connections are closed on its threads, some moments after it is. */
    private static final int QUIET_MILLIS = 500;

    private static final int END_MILLIS = 5_000;

    private final String location;
    private final S3Calls calls;
    private final S3Conditions conditions;
    private final S3Parts parts;
    private final EventLoopGroup threads;
    private final Semaphore onTheirWay = new Semaphore(PARTS_ON_THEIR_WAY, true);

    private S3ObjectStore(String location, S3Calls calls, S3Parts parts, EventLoopGroup threads) {
        this.location = location;
        this.threads = threads;
        this.calls = calls;
        this.conditions = new S3Conditions(calls);
        this.parts = parts;
    }

    /**
     * Opens a bucket, with credentials from where the AWS SDK looks for them: the environment, profiles, the host's
     * role.
     *
     * @param prefix empty, or with a slash at its end
     */
    static S3ObjectStore open(String bucket, String prefix, S3Options options) {
        return open(
                bucket,
                prefix,
                options,
                DefaultCredentialsProvider.builder().build(),
                S3Timeouts.DEFAULT,
                S3Parts.DEFAULT);
    }

    /** The same, for tests. */
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
        EventLoopGroup threads = S3Clients.threads();
        try {
            S3AsyncClient client = S3Clients.create(options, credentials, timeouts, threads);
            return new S3ObjectStore(location, new S3Calls(client, bucket, prefix, timeouts, problems), parts, threads);
        } catch (SdkException refused) {
            end(threads);
            throw new ObjectStoreException(
                    Kind.UNAVAILABLE,
                    "cannot open " + location + ": name its region, or check its options: "
                            + S3Problems.quoted(String.valueOf(refused.getMessage())),
                    refused);
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
            return new Stored(in.readWhole(maxBytes), conditions.tag("GetObject", key, in.tag()));
        } catch (ObjectStoreException failed) {
            if (S3Problems.isNoSuchObject(failed)) {
                return null;
            }
            throw failed;
        }
    }

    @Override
    public InputStream open(String key) {
        return new S3Input(calls, ObjectKeys.checked(key));
    }

    @Override
    public void put(String key, Content content) {
        S3Upload upload = new S3Upload(calls, ObjectKeys.checked(key), parts, onTheirWay);
        try {
            content.writeTo(upload);
            upload.finish();
        } catch (IOException failed) {
            ObjectStoreException problem = calls.problems().problem("PutObject", key, failed);
            upload.abortAfter(problem);
            throw problem;
        } catch (RuntimeException | Error failed) {
            upload.abortAfter(failed);
            throw failed;
        }
    }

    @Override
    public String putIf(String key, byte[] content, @Nullable String tag) {
        return conditions.put(ObjectKeys.checked(key), content, tag);
    }

    @Override
    public void list(String prefix, String after, Predicate<Listed> action) {
        ListObjectsV2Request request = ListObjectsV2Request.builder()
                .bucket(calls.bucket())
                .prefix(calls.inBucket(ObjectKeys.checkedFolder(prefix)))
                .startAfter(after.isEmpty() ? null : calls.inBucket(after))
                .build();
        while (true) {
            ListObjectsV2Response page =
                    calls.await("ListObjectsV2", prefix, calls.client().listObjectsV2(request));
            for (S3Object object : page.contents()) {
                String key = object.key().substring(calls.prefix().length());
                // What has no key of an archive is passed over.
                if (ObjectKeys.isKey(key)
                        && !action.test(new Listed(
                                key, object.size(), object.lastModified().toEpochMilli()))) {
                    return;
                }
            }
            String continuation = page.nextContinuationToken();
            if (!Boolean.TRUE.equals(page.isTruncated()) || continuation == null) {
                return;
            }
            request = request.toBuilder()
                    .startAfter(null)
                    .continuationToken(continuation)
                    .build();
        }
    }

    @Override
    public void delete(String key) {
        calls.delete(ObjectKeys.checked(key), null);
    }

    @Override
    public void deleteIf(String key, String tag) {
        conditions.delete(ObjectKeys.checked(key), tag);
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
