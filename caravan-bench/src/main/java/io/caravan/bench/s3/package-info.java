/**
 * Third-party S3 servers in separate processes: {@link io.caravan.bench.s3.S3Software} lists and installs them; an
 * {@link io.caravan.bench.s3.S3Process} is a running server, which can be killed.
 */
@NullMarked
package io.caravan.bench.s3;

import org.jspecify.annotations.NullMarked;
