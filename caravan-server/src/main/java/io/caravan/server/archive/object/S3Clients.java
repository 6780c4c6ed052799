package io.caravan.server.archive.object;

import io.caravan.server.archive.object.S3Calls.S3Timeouts;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;

/** Creates S3 clients that also work with servers other than Amazon's. */
final class S3Clients {
    /** Maximum number of concurrent calls; further calls wait. */
    private static final int CONNECTIONS = 128;

    private static final int THREADS = 2;

    private S3Clients() {}

    /**
     * Creates the threads for a client. Close the client before you end its threads. The SDK's own threads would take
     * two seconds to end.
     */
    @SuppressWarnings("deprecation") // the SDK supports no newer kind
    static EventLoopGroup threads() {
        return new NioEventLoopGroup(THREADS, new DefaultThreadFactory("caravan-s3", true));
    }

    /** Creates a client. The caller closes it. */
    static S3AsyncClient create(
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
}
