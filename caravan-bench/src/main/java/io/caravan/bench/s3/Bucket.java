package io.caravan.bench.s3;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Accesses a bucket directly, bypassing the archive. */
public final class Bucket implements AutoCloseable {
    private final URI endpoint;
    private final String name;
    private final S3AsyncClient client;

    public Bucket(URI endpoint, String name) {
        this.endpoint = endpoint;
        this.name = name;
        client = client(endpoint).build();
    }

    /** Returns a client builder with the settings that the S3 servers require. */
    public static S3AsyncClientBuilder client(URI endpoint) {
        return S3AsyncClient.builder()
                .endpointOverride(endpoint)
                .region(Region.of(S3Account.REGION))
                .credentialsProvider(S3Account.credentials())
                .forcePathStyle(true);
    }

    public URI endpoint() {
        return endpoint;
    }

    public String name() {
        return name;
    }

    public void create() throws IOException {
        await("create the bucket", client.createBucket(request -> request.bucket(name)));
    }

    /** Returns all keys with this prefix. */
    public List<String> keys(String prefix) throws IOException {
        return objects(prefix).stream().map(S3Object::key).toList();
    }

    /** Returns the total size of all objects whose keys have this prefix. */
    public long bytes(String prefix) throws IOException {
        return objects(prefix).stream().mapToLong(S3Object::size).sum();
    }

    private List<S3Object> objects(String prefix) throws IOException {
        List<S3Object> objects = new ArrayList<>();
        await(
                "list " + prefix,
                client.listObjectsV2Paginator(request -> request.bucket(name).prefix(prefix))
                        .contents()
                        .subscribe(objects::add));
        return objects;
    }

    /** Reads a complete object. Returns null if the object does not exist. */
    public byte @Nullable [] get(String key) throws IOException {
        try {
            return await(
                            "get " + key,
                            client.getObject(
                                    request -> request.bucket(name).key(key), AsyncResponseTransformer.toBytes()))
                    .asByteArray();
        } catch (IOException problem) {
            if (problem.getCause() instanceof CompletionException failed
                    && failed.getCause() instanceof NoSuchKeyException) {
                return null;
            }
            throw problem;
        }
    }

    /** Puts an object, and overwrites any existing object with this key. */
    public void put(String key, byte[] content) throws IOException {
        await(
                "put " + key,
                client.putObject(request -> request.bucket(name).key(key), AsyncRequestBody.fromBytes(content)));
    }

    public void delete(String key) throws IOException {
        await(
                "delete " + key,
                client.deleteObject(request -> request.bucket(name).key(key)));
    }

    private <T> T await(String what, CompletableFuture<T> response) throws IOException {
        try {
            return response.join();
        } catch (CompletionException | SdkException problem) {
            throw new IOException("cannot " + what + " in bucket " + name + " at " + endpoint, problem);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
